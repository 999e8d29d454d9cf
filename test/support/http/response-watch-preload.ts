import { recordResponse } from './recorded-responses.ts';
import { watchResponses } from './response-watch.ts';

/** Loaded first into the processes that tests start. */
watchResponses(recordResponse);
