import { existsSync, readdirSync, statSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../src/sqlite.ts';
import type { MeasuredService } from '../bench/measured-service.ts';

/** What the service takes of the machine. */

/** Bytes. */
export interface Memory {
  readonly residentBytes: number;
  /** In the JavaScript heap of the main thread and outside of it, with the garbage that was not collected yet. */
  readonly heapBytes: number;
}

/** Bytes. */
export interface Disk {
  /** All files of the data folder. */
  readonly bytes: number;
  /** The batches of topics that are not compacted, without what SQLite adds to them. 0 on a cluster. */
  readonly eventBytes: number;
  /** The pages of the local copy of accounts that are in use. */
  readonly accountBytes: number;
}

/** The memory of a process, as its metrics have it. */
export async function memoryOf({ url }: Pick<MeasuredService, 'url'>): Promise<Memory> {
  const text = await read(`${url}/metrics`);
  const valueOf = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  return {
    residentBytes: valueOf('process_resident_memory_bytes'),
    heapBytes: valueOf('nodejs_heap_size_used_bytes') + valueOf('nodejs_external_memory_bytes'),
  };
}

/** Reads a text on a connection of its own: the service closes one that was idle since the last interval. */
function read(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = get(url, { agent: false, headers: { Accept: 'text/plain' } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('error', reject).on('end', () => resolve(text));
    });
    sent.on('error', reject);
  });
}

const collectMilliseconds = 2_000;

/** The bytes in use after a collection of all garbage, in the JavaScript heap of the main thread and outside of it. */
export async function bytesInUse(service: Pick<MeasuredService, 'url' | 'processId'>): Promise<number> {
  process.kill(service.processId, 'SIGUSR2');
  await sleep(collectMilliseconds);
  return (await memoryOf(service)).heapBytes;
}

/** What the data folder of a process takes, and how much of it is live. */
export function diskOf(folder: string): Disk {
  return {
    bytes: bytesOfFiles(folder),
    eventBytes: eventBytesOf(join(folder, 'log.db')),
    accountBytes: copiesOfAccounts(folder).reduce((bytes, file) => bytes + bytesInPages(file), 0),
  };
}

/** On a cluster, the copy lies in a folder of the process, and in it in one of the cluster. */
function copiesOfAccounts(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name === 'accounts.db')
    .map(({ parentPath, name }) => join(parentPath, name));
}

const bytesPerBlock = 512;

function bytesOfFiles(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += bytesOfFiles(path);
    // A file that is deleted in this moment takes nothing.
    else bytes += (statSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * bytesPerBlock;
  }
  return bytes;
}

function eventBytesOf(file: string): number {
  return queried(
    file,
    `SELECT total(bytes) FROM (SELECT partition_id, total(body_bytes) AS bytes FROM batch GROUP BY partition_id)
     JOIN partition ON partition.id = partition_id JOIN topic ON topic.id = topic_id
     WHERE cleanup_policy = 'delete'`,
  );
}

function bytesInPages(file: string): number {
  const pages = queried(file, 'SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count');
  return pages * queried(file, 'SELECT page_size FROM pragma_page_size');
}

function queried(file: string, query: string): number {
  if (!existsSync(file)) return 0;
  const connection = openDatabase(file, { readOnly: true, returnArrays: true });
  try {
    const [value] = connection.prepare(query).get() as [number];
    return value;
  } finally {
    connection.close();
  }
}
