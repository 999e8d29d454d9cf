import { isMainThread } from 'node:worker_threads';

/** Loaded first into the processes that tests start, and into their threads, which serve nothing. */
if (isMainThread) {
  const { recordResponse } = await import('./recorded-responses.ts');
  const { watchResponses } = await import('./response-watch.ts');
  const { watchStandardError } = await import('../logs/secrets-in-logs.ts');
  watchResponses(recordResponse);
  watchStandardError();
}
