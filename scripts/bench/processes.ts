import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Child processes of the benchmark: the measured program never shares an event loop with the one that measures. */

const started = new Set<ChildProcess>();

export interface Running {
  readonly child: ChildProcess;
  /** The next line on its standard output. */
  nextLine(): Promise<string>;
  /** @param signal SIGTERM by default */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a compiled program. Its path is relative to the folder of compiled programs. */
export function startProgram(
  path: string,
  programArguments: readonly string[],
  environment: Record<string, string> = {},
  nodeArguments: readonly string[] = [],
): Running {
  const program = fileURLToPath(new URL(`../../${path}`, import.meta.url));
  return follow(
    spawn(process.execPath, [...nodeArguments, program, ...programArguments], {
      env: { ...process.env, ...environment },
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
}

/** Starts a program of the machine; its standard error goes to that of the benchmark. */
export function startCommand(command: string, commandArguments: readonly string[]): Running {
  return follow(spawn(command, commandArguments, { stdio: ['pipe', 'pipe', 'inherit'] }));
}

function follow(child: ChildProcess): Running {
  started.add(child);
  const exited = once(child, 'exit').then(() => started.delete(child));
  const { stdout } = child;
  if (stdout === null) throw new Error('The program has no standard output');
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  return {
    child,
    async nextLine() {
      const { value, done } = await lines.next();
      if (done === true) throw new Error('The program ended before it answered');
      return value;
    },
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      await exited;
    },
  };
}

/** Runs a compiled program to its end and returns the JSON that it prints as its last line. */
export async function runProgram<Result>(path: string, settings: object): Promise<Result> {
  const running = startProgram(path, [JSON.stringify(settings)]);
  const lastLine = await running.nextLine();
  await once(running.child, 'exit');
  return JSON.parse(lastLine) as Result;
}

/** Whatever happens, nothing that was started outlives the benchmark. */
process.on('exit', () => {
  for (const child of started) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
