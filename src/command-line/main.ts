#!/usr/bin/env node
import process from 'node:process';
import { Output } from './output.ts';
import { runProgram } from './program.ts';

/** The process of the command line `lendstream`. */

const stop = new AbortController();
// A second signal ends it at once.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stop.abort();
    process.stdin.destroy();
  });
}

// The reader of a pipe, such as head, has enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

const exitCode = await runProgram({
  words: process.argv.slice(2),
  environment: process.env,
  output: new Output(process.stdout, process.stderr),
  input: process.stdin,
  stopped: stop.signal,
});
process.exitCode = exitCode;
// Standard input that was not read to its end would keep the process.
process.stdin.destroy();
