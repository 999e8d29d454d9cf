import { watchStandardError } from './lines-with-secrets.ts';

/** Loaded first into the threads that tests start in their own process. */
watchStandardError();
