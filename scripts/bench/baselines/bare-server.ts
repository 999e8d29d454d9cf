import { fdatasync, openSync, write } from 'node:fs';
import { serveBodies, type Publication } from './bodies-server.ts';

/**
 * The lower bound of the cost of publishing: a bare HTTP server that parses the same bodies and appends them to a file,
 * durable before it responds. It has no validation, no enrichment and no partitions. The sync clocks the writes: one is
 * under way at a time, and everything that arrives during it makes up the next.
 */
const file = openSync(process.argv[2] ?? 'bare.log', 'a');

let waiting: Publication[] = [];
let writing = false;

function writeWaiting(): void {
  if (writing || waiting.length === 0) return;
  writing = true;
  const group = waiting;
  waiting = [];
  const bytes = Buffer.concat(group.map(({ body }) => body));
  write(file, bytes, 0, bytes.length, null, (writeError) => {
    if (writeError !== null) throw writeError;
    fdatasync(file, (syncError) => {
      if (syncError !== null) throw syncError;
      for (const { response } of group) response.end();
      writing = false;
      writeWaiting();
    });
  });
}

serveBodies((publication) => {
  waiting.push(publication);
  writeWaiting();
});
