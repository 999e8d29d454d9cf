import { cpSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withMutation, type Mutation } from './operators.ts';

/** A copy of the compiled code in which one fault at a time can be planted, beside the original. */
export interface PrivateBuild {
  readonly folder: string;
  /** Plants a fault in a compiled file. @returns a function that removes it */
  plant(compiled: string, mutation: Mutation): () => void;
  remove(): void;
}

/** Ignored by git, by the linter and by the formatter, as every folder whose name begins with dist. */
const folderPrefix = 'dist-mutants-';

/**
 * Copies a build. The copy is removed when this process exits; after a kill -9 the next one removes it.
 * @param slot distinguishes several copies of one process
 */
export function copyBuild(build: string, slot: number): PrivateBuild {
  const project = dirname(build);
  removeLeftovers(project);
  const folder = join(project, `${folderPrefix}${process.pid}-${slot}`);
  cpSync(build, folder, { recursive: true });
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  return {
    folder,
    plant(compiled, mutation) {
      const path = join(folder, compiled);
      const code = readFileSync(path, 'utf8');
      writeFileSync(path, withMutation(code, mutation));
      return () => writeFileSync(path, code);
    },
    remove() {
      process.removeListener('exit', remove);
      remove();
    },
  };
}

function removeLeftovers(project: string): void {
  for (const name of readdirSync(project)) {
    const owner = name.startsWith(folderPrefix) ? Number(name.slice(folderPrefix.length).split('-')[0]) : Number.NaN;
    if (Number.isInteger(owner) && !existsSync(`/proc/${owner}`)) {
      rmSync(join(project, name), { recursive: true, force: true });
    }
  }
}
