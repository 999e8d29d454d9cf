import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface ReadinessOptions {
  /** Milliseconds; a process that is not ready by then is killed. */
  readonly withinMilliseconds: number;
  /** Called with every line of standard output, also later ones. */
  readonly onLine?: (line: string) => void;
}

/**
 * Waits until a started process of the service prints that it is ready.
 * @returns The address that it prints; undefined for a process that serves nothing.
 * @throws Error when it exits before or takes too long
 */
export function readyAddress(
  child: ChildProcess,
  { withinMilliseconds, onLine = () => {} }: ReadinessOptions,
): Promise<string | undefined> {
  const { stdout } = child;
  if (stdout === null) throw new Error('The process has no standard output');
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error('The service did not get ready in time'));
    }, withinMilliseconds);
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      reject(new Error(`The service ended with ${code ?? signal} before it was ready`));
    });
    createInterface({ input: stdout }).on('line', (line) => {
      onLine(line);
      const ready = /ready at (\S+)/.exec(line)?.[1];
      if (ready === undefined) return;
      clearTimeout(timer);
      resolve(ready.startsWith('http') ? ready : undefined);
    });
  });
}
