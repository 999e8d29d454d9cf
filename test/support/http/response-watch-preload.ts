import { isMainThread } from 'node:worker_threads';
import { watchStandardError } from '../logs/lines-with-secrets.ts';
import { recordResponse } from './recorded-responses.ts';
import { watchResponses } from './response-watch.ts';

/**
 * Loaded first into the processes that tests start, and into their threads, which serve nothing. Its modules import no
 * package: most of these processes need none of theirs.
 */
watchStandardError();
if (isMainThread) watchResponses(recordResponse);
