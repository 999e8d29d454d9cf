import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Lendstream } from '../../client/client.ts';
import { AuditChain, type ChainHead } from '../audit-chain.ts';
import { type Command, exitCodes, WrongUsage } from '../command.ts';

const eventType = 'lendstream.audit';
const pageRecords = 1_000;
/** How often the progress is told. Records. */
const progressRecords = 10_000;

/** The last record of each partition, by partition. */
type Anchors = Readonly<Record<string, ChainHead>>;

export const auditVerifyCommand: Command = {
  name: 'audit verify',
  parameters: '',
  wordsMinimum: 0,
  wordsMaximum: 0,
  summary: 'check that no record of the audit was changed, moved or removed',
  options: {
    anchor: {
      value: 'FILE',
      summary: 'also compare with the last records of an earlier check, and keep those of this one there',
    },
  },
  async run({ lendstream, output, isJson, text, stopped }) {
    const file = text('anchor');
    const anchors = file === undefined ? {} : await readAnchors(file);
    const partitions = (await lendstream.get(`/event-types/${eventType}/partitions`)) as readonly {
      readonly partition: string;
    }[];
    const heads: Record<string, ChainHead> = {};
    const rows: object[] = [];
    let faultCount = 0;
    for (const { partition } of partitions) {
      const chain = new AuditChain(anchors[partition]);
      await readChain(lendstream, partition, chain, stopped, (records) =>
        output.message(`partition ${partition}: ${records} records read`),
      );
      const faults = chain.faults();
      faultCount += faults.length;
      if (chain.head !== undefined) heads[partition] = chain.head;
      const { records, first, head } = chain;
      rows.push({ partition, records, first, last: head?.sequence, hash: head?.hash, faults });
      for (const { offset, message } of faults) {
        output.message(`partition ${partition}: ${offset === undefined ? '' : `the record at ${offset} `}${message}`);
      }
    }
    if (isJson) for (const row of rows) await output.json(row);
    else {
      await output.table(rows as readonly Readonly<Record<string, unknown>>[], {
        partition: (each) => each['partition'],
        records: (each) => each['records'],
        first: (each) => each['first'],
        last: (each) => each['last'],
        'hash of the last': (each) => each['hash'],
        faults: (each) => (each['faults'] as readonly unknown[]).length,
      });
    }
    if (faultCount > 0) return exitCodes.different;
    if (file !== undefined) await writeAnchors(file, { ...anchors, ...heads });
    return exitCodes.done;
  },
};

interface Page {
  readonly items: readonly { readonly offset: string; readonly event: unknown }[];
  readonly ended_by: string;
  readonly next?: string;
}

async function readChain(
  lendstream: Lendstream,
  partition: string,
  chain: AuditChain,
  stopped: AbortSignal,
  onProgress: (records: number) => void,
): Promise<void> {
  let token: string | undefined;
  do {
    stopped.throwIfAborted();
    const query = { limit: pageRecords, ...(token === undefined ? { from: 'BEGIN' } : { token }) };
    const path = `/event-types/${eventType}/partitions/${partition}/events`;
    const page = (await lendstream.get(path, { query })) as Page;
    const before = chain.records;
    for (const { offset, event } of page.items) chain.take(offset, event);
    if (Math.floor(chain.records / progressRecords) > Math.floor(before / progressRecords)) onProgress(chain.records);
    // At the end there is a token as well, for records that are still to come.
    token = page.ended_by === 'end' ? undefined : page.next;
  } while (token !== undefined);
}

/** @throws WrongUsage for a file that is none of an earlier check */
async function readAnchors(file: string): Promise<Anchors> {
  let content: string;
  try {
    content = await readFile(file, 'utf8');
  } catch (error) {
    // The first check makes it.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  try {
    const anchors = JSON.parse(content) as Anchors;
    if (Object.values(anchors).every(({ sequence, hash }) => sequence > 0 && hash.length === 64)) return anchors;
  } catch {
    // Told below.
  }
  throw new WrongUsage(`${file} is no file of an earlier check`);
}

/** A file that is half written would be taken for a broken one. */
async function writeAnchors(file: string, anchors: Anchors): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(anchors)}\n`);
  await rename(`${file}.new`, file);
}
