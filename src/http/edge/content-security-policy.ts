/**
 * The headers that restrict a page to its own files and to requests to the service it came from: nothing inline, no
 * frames, and no file treated as another type than it is sent as.
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
