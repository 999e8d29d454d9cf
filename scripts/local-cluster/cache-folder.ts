import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * The folder for what is kept between runs, for this user: the jars of Kafka and the notes about running clusters.
 * LENDSTREAM_CACHE_DIR puts it elsewhere; the default is below XDG_CACHE_HOME or ~/.cache.
 */
export function cacheFolder(): string {
  const { LENDSTREAM_CACHE_DIR: own = '', XDG_CACHE_HOME: shared = '' } = process.env;
  return own === '' ? join(shared === '' ? join(homedir(), '.cache') : shared, 'lendstream') : resolve(own);
}
