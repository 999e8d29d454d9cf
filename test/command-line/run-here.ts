import { Readable } from 'node:stream';
import { Output, type TextStream } from '../../src/command-line/output.ts';
import { runProgram } from '../../src/command-line/program.ts';
import type { Ended } from './started-program.ts';

/**
 * Runs the command line in this process, which is much cheaper than to start one. Standard input is empty. What a
 * process adds is signals, pipes and the exit code: {@link startProgram} is for them.
 * @param environment All of its settings.
 */
export async function runHere(words: readonly string[], environment: Record<string, string> = {}): Promise<Ended> {
  const [results, messages] = [new WrittenText(), new WrittenText()];
  const code = await runProgram({
    words,
    environment,
    output: new Output(results, messages),
    input: Readable.from([]),
    stopped: new AbortController().signal,
  });
  return { code, output: results.text, messages: messages.text };
}

/** Takes all that is written. */
class WrittenText implements TextStream {
  text = '';

  write(text: string): boolean {
    this.text += text;
    return true;
  }

  once(): this {
    return this;
  }
}
