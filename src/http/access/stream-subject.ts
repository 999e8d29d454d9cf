/** What a token opens: `subscriptions/<id>` or `event-types/<name>`. */
export type StreamSubject = `${StreamKind}/${string}`;

export type StreamKind = 'subscriptions' | 'event-types';

const streamPath = /^\/(subscriptions|event-types)\/([^/]+)\/events\/?$/;

/** What the path of a stream names; undefined for any other path. */
export function streamSubjectOf(path: string): StreamSubject | undefined {
  const [, kind, name = ''] = streamPath.exec(path) ?? [];
  if (kind !== 'subscriptions' && kind !== 'event-types') return undefined;
  try {
    return `${kind}/${decodeURIComponent(name)}`;
  } catch {
    return undefined;
  }
}
