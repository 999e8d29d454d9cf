import { connect } from 'node:net';

/** An open stream that passes its lines on as texts: for few events whose times matter. */
export interface OpenStream {
  readonly streamId: string;
  close(): void;
}

/** The cursor of a line, in the form in which it is committed. */
export interface LineCursor {
  readonly partition: string;
  readonly offset: string;
  readonly event_type: string;
  readonly cursor_token: string;
}

/**
 * Opens a stream and returns when its head has arrived. Calls `onLine` for every line, also those without events.
 * @param onEnd Called when the open stream ends.
 */
export function openStream(
  url: string,
  subscription: string,
  query: string,
  onLine: (line: string) => void,
  onEnd?: () => void,
): Promise<OpenStream> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let head: string | undefined = '';
    let rest = '';
    const socket = connect(Number(port), hostname);
    socket.setEncoding('latin1');
    socket.on('error', reject);
    socket.on('close', () => {
      if (head === undefined) onEnd?.();
      else reject(new Error(`A stream ended: ${head}`));
    });
    const onText = (text: string): void => {
      // Chunk sizes are on lines of their own, which do not begin with a brace. They never split a short line.
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (!line.startsWith('{')) continue;
        if (!line.endsWith('}')) socket.destroy(new Error(`A line is torn: ${line}`));
        onLine(line);
      }
    };
    socket.on('data', (text: string) => {
      if (head === undefined) return onText(text);
      head += text;
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const streamId = /x-nakadi-streamid: (\S+)/i.exec(head)?.[1];
      if (streamId === undefined) return reject(new Error(head));
      const body = head.slice(end + 4);
      head = undefined;
      resolve({ streamId, close: () => void socket.destroy() });
      onText(body);
    });
    socket.write(`GET /subscriptions/${subscription}/events?${query} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
  });
}

/** The cursor of a line that brought events; undefined for a keep-alive. */
export function cursorOf(line: string): LineCursor | undefined {
  if (!line.includes('"events":[')) return undefined;
  return JSON.parse(line.slice(line.indexOf('{"partition"'), line.indexOf('}') + 1)) as LineCursor;
}
