import { watchResponses } from './response-watch.ts';

/** Loaded before everything else into the processes that tests start. */
watchResponses();
