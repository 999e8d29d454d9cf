import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../local-cluster/cache-folder.ts';
import { isOnPath } from '../local-cluster/prerequisites.ts';

/** How to start a program: the machine's own, or that in this user's cache; undefined when there is neither. */
export function findProgram(name: string): string | undefined {
  if (isOnPath(name)) return name;
  const cached = join(cacheFolder(), name);
  return existsSync(cached) ? cached : undefined;
}
