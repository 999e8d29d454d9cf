/**
 * What a consumer or a tail does on its own, for a log:
 * - `opened`: a stream is open
 * - `info`: what the service says of it, such as that events expired before they were delivered
 * - `ended`: the service ended it; `code` is its `info.code`
 * - `waiting`: for how long, and why: before another stream is opened, or before a commit is repeated
 * - `refused`: a commit was refused. Its events come again
 * - `repeated`: so many events of a batch were skipped, because they were processed before
 */
export type Notice =
  | { readonly kind: 'opened'; readonly streamId: string }
  | { readonly kind: 'info'; readonly detail: string }
  | { readonly kind: 'ended'; readonly code: string; readonly detail: string }
  | { readonly kind: 'waiting'; readonly reason: string; readonly milliseconds: number }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'repeated'; readonly events: number };
