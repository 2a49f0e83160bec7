/** A browser and a system out of a User-Agent, as far as people would name them. */
export function agentName(agent: string): { browser: string; system: string; phone: boolean } {
  const find = (table: [RegExp, string][]) => table.find(([pattern]) => pattern.test(agent))?.[1] ?? '';
  const browser = find([[/Edg\//, 'Edge'], [/OPR\//, 'Opera'], [/Firefox\//, 'Firefox'], [/HeadlessChrome|Chrome\/|Chromium/, 'Chrome'], [/Safari\//, 'Safari'], [/curl/, 'curl']]);
  const system = find([[/iPhone/, 'iPhone'], [/iPad/, 'iPad'], [/Android/, 'Android'], [/Windows/, 'Windows'], [/Mac OS X/, 'macOS'], [/Linux/, 'Linux']]);
  return { browser: browser || agent.split(/[/ ]/)[0] || '', system, phone: /iPhone|Android.*Mobile/.test(agent) };
}
