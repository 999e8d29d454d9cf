/** The media type in a header, without its parameters and in lower case: neither tells one type from another. */
export function mediaTypeIn(value: string): string {
  return (value.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** The media types and ranges of an `Accept` header, but for those that it excludes. */
export function mediaTypesAccepted(accept: string): string[] {
  return accept
    .split(',')
    .filter((range) => !/;\s*q=0(?:\.0*)?\s*(?:;|$)/i.test(range))
    .map(mediaTypeIn);
}
