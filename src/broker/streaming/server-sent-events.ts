import { asciiJson, type LineFormat, type LineInfo } from './line-format.ts';

/**
 * `text/event-stream`: the same lines, each as an event for the `EventSource` of a browser. The id of an event is the
 * list of cursors to resume at. What the stream says about itself is an event of its own: `end` is why it ends, `info`
 * is anything else. Batches without events are comments, which only keep the connection alive, and have an id as well:
 * the position may have moved over deletions.
 */
export const serverSentEvents: LineFormat = {
  batchStart: 'data: ',
  keepAliveStart: ': ',
  lineEnd: (info, positions) => `}\n${idField(positions.cursors())}\n${info === undefined ? '' : infoEvent(info)}`,
};

/** The field that makes the browser send these cursors back as `Last-Event-ID`. @param cursors In ASCII. */
export function idField(cursors: string): string {
  return `id: ${cursors}\n`;
}

function infoEvent(info: LineInfo): string {
  return `event: ${info.code === undefined ? 'info' : 'end'}\ndata: ${asciiJson(info)}\n\n`;
}
