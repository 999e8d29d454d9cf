import * as sqlite from '@photostructure/sqlite';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { compileFunction, runInNewContext } from 'node:vm';
import workerThreads, { parentPort, type MessagePort } from 'node:worker_threads';

/**
 * The program of a thread that runs programs of the bundle one after another, each as if it had a thread of its own:
 * its modules are new, while their compiled code and what is no part of the bundle stay. See kept-threads.ts.
 * In: programs. Out: a message when one has ended.
 */

/** A program for this thread. It ends when the port is closed. */
export interface LentProgram {
  /** The absolute path of its first module. */
  readonly program: string;
  readonly workerData: unknown;
  /** What it has as its `parentPort`. */
  readonly port: MessagePort;
}

/** A program has ended. */
export interface Ended {
  /** Whether nothing of it is left: the thread can run another one. */
  readonly isGone: boolean;
}

type ModuleFunction = (exports: unknown, require: (name: string) => unknown, module: { exports: unknown }) => void;
type Statement = ReturnType<sqlite.DatabaseSyncInstance['prepare']>;

const compiled = new Map<string, ModuleFunction>();

/** What reads the rows of a statement keeps it until it is collected itself, one round before. */
const roundsMaximum = 3;

/** The statements of the program. A file stays open until those of its connection are collected. */
let statements: WeakRef<Statement>[] = [];

const watchedSqlite = {
  ...sqlite,
  DatabaseSync: class extends sqlite.DatabaseSync {
    override prepare(...parameters: Parameters<sqlite.DatabaseSyncInstance['prepare']>): Statement {
      const statement = super.prepare(...parameters);
      statements.push(new WeakRef(statement));
      return statement;
    }
  },
};

function run({ program, workerData, port }: LentProgram): void {
  port.once('close', () => void end());
  const ofThread = { ...workerThreads, parentPort: port, workerData };
  const requireOther = createRequire(program);
  const modules = new Map<string, { exports: unknown }>();
  const load = (path: string): unknown => {
    const loaded = modules.get(path);
    if (loaded !== undefined) return loaded.exports;
    const module = { exports: {} as unknown };
    modules.set(path, module);
    const require = (name: string): unknown => {
      if (name === 'node:worker_threads') return ofThread;
      if (name === '@photostructure/sqlite') return watchedSqlite;
      return name.startsWith('.') ? load(join(dirname(path), name)) : requireOther(name);
    };
    compiledModule(path)(module.exports, require, module);
    return module.exports;
  };
  load(program);
}

function compiledModule(path: string): ModuleFunction {
  let module = compiled.get(path);
  if (module === undefined) {
    const text = readFileSync(path, 'utf8');
    module = compileFunction(text, ['exports', 'require', 'module'], { filename: path }) as ModuleFunction;
    compiled.set(path, module);
  }
  return module;
}

async function end(): Promise<void> {
  const isGone = await collectStatements();
  statements = [];
  parentPort?.postMessage({ isGone } satisfies Ended, []);
}

/** Collects what is left of the program. @returns whether that was everything */
async function collectStatements(): Promise<boolean> {
  // Nothing refers to the program any more when its events are over.
  await setImmediate();
  for (let round = 0; round < roundsMaximum; round += 1) {
    collectGarbage();
    // The library closes what was collected in a turn of its own.
    await setImmediate();
    await setImmediate();
    if (statements.every((statement) => statement.deref() === undefined)) return true;
  }
  return false;
}

/** The engine's own function, which only a context has that is made while the flag is set. */
function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  return collect;
}

const collectGarbage = garbageCollector();
parentPort?.on('message', run);
