import type { Cluster, KafkaGeneration } from '../../test/support/cluster.ts';
import type { Backend } from './test-files.ts';
import type { MochaOutcome } from './mocha-run.ts';

/** What the process that hands out the test files sends to a runner. */
export type Request =
  | { readonly kind: 'cluster'; readonly generation: KafkaGeneration; readonly cluster: Cluster }
  | { readonly kind: 'run'; readonly compiled: string; readonly backend: Backend }
  | { readonly kind: 'end'; readonly lingerMilliseconds: number };

/** A runner's response to `run`. */
export interface Done extends MochaOutcome {
  /** What was open after the file and was not before, by the names of Node.js. */
  readonly opened: readonly string[];
}

/** The end of what a file prints to standard output; the response comes on another way and may come before it. */
export const endOfFile = '\n\0end of file\n';
