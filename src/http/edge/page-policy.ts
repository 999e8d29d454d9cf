/**
 * What a page of the service may load and do: its own files, and requests to the service it came from. Nothing inline,
 * no frames, and no file taken for another type than it is sent as.
 * @param imageSources Where images may come from, as Content-Security-Policy writes it.
 */
export function pageHeaders(imageSources: string): Readonly<Record<string, string>> {
  const contentSecurityPolicy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${imageSources}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return { 'Content-Security-Policy': contentSecurityPolicy.join('; '), 'X-Content-Type-Options': 'nosniff' };
}
