import { Agent, request } from 'node:http';

/** The requests of the load, over connections that stay open. */

/** How long a response may take. A command is answered within ten seconds, decided or not. Milliseconds. */
const responseMillisecondsMaximum = 30_000;

const agent = new Agent({ keepAlive: true, maxSockets: 256 });

/**
 * Posts JSON, and reads the response to its end.
 * @param body The text of the body, or what it is written from.
 * @returns the milliseconds that it took
 * @throws Error for a response other than 200, 201 and 204, or none
 */
export function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  isRepeated = false,
): Promise<number> {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const sentAt = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        agent: isRepeated ? false : agent,
        headers: { 'Content-Type': 'application/json', 'Content-Length': bytes.length, ...headers },
        signal: AbortSignal.timeout(responseMillisecondsMaximum),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const { statusCode = 0 } = response;
          if (doneStatuses.includes(statusCode)) return resolve(performance.now() - sentAt);
          const text = Buffer.concat(chunks).toString('utf8', 0, shownBytesMaximum);
          reject(new Error(`POST ${url} was answered ${statusCode}: ${text}`));
        });
      },
    );
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // The service closes a connection that was idle, in the moment in which it is used again. The next one of the
      // pool may be as old, so the request is repeated on a new one.
      const wasIdle = sent.reusedSocket && error.code === 'ECONNRESET';
      if (wasIdle && !isRepeated) resolve(post(url, body, headers, true));
      else reject(error);
    });
    sent.end(bytes);
  });
}

/** 202 is not among them: it says that a command was not decided in time. */
const doneStatuses = [200, 201, 204];

/** How much of an unexpected response is shown. Bytes. */
const shownBytesMaximum = 500;
