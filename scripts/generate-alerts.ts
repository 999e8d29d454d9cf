import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/package-root.ts';
import { alertsAsMarkdown, readAlerts, withSection } from './deployment/alerts.ts';
import { formatText } from './format-text.ts';
import { writeOrCheckFile } from './generated-file.ts';
import { endIfHelpIsAsked } from './read-usage.ts';

/**
 * Puts the alerts of deploy/prometheus/alerts.yml into docs/operating.md. With `--check` it writes nothing, and fails
 * when the document has others.
 */
endIfHelpIsAsked('generate');

const page = join(packageRoot, 'docs/operating.md');
const text = withSection(readFileSync(page, 'utf8'), 'alerts', alertsAsMarkdown(readAlerts()));
writeOrCheckFile(page, await formatText(page, text));
