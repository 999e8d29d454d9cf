/** Prints a token for a page: node dist/scripts/examples/stream-token.js <event type> */
import { Lendstream } from 'lendstream/client';

// What is behind the page has the key. The page never sees it.
const lendstream = new Lendstream({
  url: process.env['LENDSTREAM_URL'] ?? 'http://127.0.0.1:8080',
  apiKey: process.env['LENDSTREAM_API_KEY'],
});

/** A token that opens one stream of the event type, within a minute. */
async function newToken(eventType: string): Promise<string> {
  const body = { event_type: eventType };
  const { token } = (await lendstream.request('POST', '/stream-tokens', { body })) as { readonly token: string };
  return token;
}

console.log(await newToken(process.argv[2] ?? ''));
