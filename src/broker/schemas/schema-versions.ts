/** The versions of schemas, `major.minor.patch`. */

export type VersionPart = 'major' | 'minor' | 'patch';

/** The version with one part raised by one, and the parts after it at zero. */
export function raisedVersion(version: string, part: VersionPart): string {
  const [major = 1, minor = 0, patch = 0] = version.split('.').map(Number);
  if (part === 'major') return `${major + 1}.0.0`;
  return part === 'minor' ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

/** Orders versions by their numbers: negative when `left` is older. */
export function compareVersions(left: string, right: string): number {
  const leftParts = left.split('.').map(Number);
  const rightParts = right.split('.').map(Number);
  for (const index of [0, 1, 2]) {
    const difference = (leftParts[index] ?? 0) - (rightParts[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
