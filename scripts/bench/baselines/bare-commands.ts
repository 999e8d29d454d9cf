import { createServer, type ServerResponse } from 'node:http';
import { fdatasync, openSync, write } from 'node:fs';

/**
 * The lower bound of the cost of commands: a bare HTTP server that parses the same bodies and appends them to a file,
 * and a loop that takes what has been stored, parses each command again and appends as many bytes as the worker writes
 * for it. Nothing is decided. Both are durable before anyone sees them. The sync clocks the writes: one is under way at
 * a time, and everything that arrives during it makes up the next. Arguments: the file, and the bytes for each command.
 */
const [path = 'bare.log', bytesPerCommand = '0'] = process.argv.slice(2);
const file = openSync(path, 'a');
const outcome = Buffer.alloc(Number(bytesPerCommand), 'x');
/** As in a commit of the worker. */
const commandsPerCommit = 500;

let waiting: { readonly bytes: Buffer; readonly done: () => void }[] = [];
let writing = false;

function append(bytes: Buffer, done: () => void): void {
  waiting.push({ bytes, done });
  writeWaiting();
}

function writeWaiting(): void {
  if (writing || waiting.length === 0) return;
  writing = true;
  const group = waiting;
  waiting = [];
  const bytes = Buffer.concat(group.map((each) => each.bytes));
  write(file, bytes, 0, bytes.length, null, (writeError) => {
    if (writeError !== null) throw writeError;
    fdatasync(file, (syncError) => {
      if (syncError !== null) throw syncError;
      writing = false;
      for (const { done } of group) done();
      writeWaiting();
    });
  });
}

interface Command {
  readonly metadata: { readonly eid: string };
}

/** The texts of stored commands that the loop has not taken yet. */
let undecided: string[] = [];
let isDeciding = false;
const decided = new Set<string>();

function decideWaiting(): void {
  if (isDeciding || undecided.length === 0) return;
  isDeciding = true;
  const some = undecided.slice(0, commandsPerCommit);
  undecided = undecided.slice(commandsPerCommit);
  const ids = some.map((text) => (JSON.parse(text) as Command).metadata.eid);
  append(Buffer.concat(some.map(() => outcome)), () => {
    for (const id of ids) decided.add(id);
    isDeciding = false;
    decideWaiting();
  });
}

function publish(body: Buffer, response: ServerResponse): void {
  const commands = JSON.parse(body.toString('utf8')) as readonly Command[];
  const texts = commands.map((command) => JSON.stringify(command));
  append(body, () => {
    response.end();
    for (const text of texts) undecided.push(text);
    decideWaiting();
  });
}

const server = createServer((request, response) => {
  const { method, url = '' } = request;
  if (method === 'GET') {
    const isDecided = decided.has(url.slice(url.lastIndexOf('/') + 1));
    response.statusCode = isDecided ? 200 : 404;
    response.end(JSON.stringify(isDecided ? { status: 'COMMITTED' } : {}));
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => publish(Buffer.concat(chunks), response));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no address');
  console.log(`http://127.0.0.1:${address.port}`);
});
process.on('SIGTERM', () => process.exit(0));
