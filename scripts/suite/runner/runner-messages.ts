import type { Cluster, KafkaGeneration } from '../../../test/support/clusters/provided-cluster.ts';
import type { Backend } from '../test-files.ts';
import type { MochaOutcome } from './mocha-run.ts';

/** The messages that the process that hands out the test files sends to a runner. */
export type Request =
  | { readonly kind: 'cluster'; readonly generation: KafkaGeneration; readonly cluster: Cluster }
  | { readonly kind: 'run'; readonly compiled: string; readonly backend: Backend }
  | { readonly kind: 'end'; readonly lingerMilliseconds: number };

/** A runner's response to `run`. */
export interface Done extends MochaOutcome {
  /** The processor time of the file, with that of the processes that it started and that have ended. */
  readonly processorSeconds: number;
  /** The resources that are open after the file and were not before, by the names of Node.js. */
  readonly opened: readonly string[];
}

/** The end of a file's standard output; the response is sent separately and may arrive before it. */
export const endOfFile = '\n\0end of file\n';
