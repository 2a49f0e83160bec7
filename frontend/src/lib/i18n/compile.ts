/** One message, taken apart once: text, or pieces of text, arguments and plurals. */
export type Part = string | { arg: string; forms?: Record<string, Part[]> };
export type Message = string | Part[];
export type Params = Record<string, string | number>;

/**
 * Takes a message apart: `{name}` is an argument, `{count, plural, one {# file} other {# files}}` a plural, `#` in it the
 * number. The rest of ICU's syntax is not used here and not understood.
 */
export function compile(text: string): Message {
  if (!text.includes('{')) return text;
  const [parts] = pieces(text, 0, null);
  return parts;
}

function pieces(text: string, from: number, number: string | null): [Part[], number] {
  const parts: Part[] = [];
  let plain = '';
  const flush = () => {
    if (plain) parts.push(plain);
    plain = '';
  };
  let i = from;
  for (; i < text.length && text[i] !== '}'; i++) {
    if (text[i] === '#' && number !== null) {
      flush();
      parts.push({ arg: number });
    } else if (text[i] === '{') {
      flush();
      const end = text.slice(i).search(/[,}]/) + i;
      const arg = text.slice(i + 1, end).trim();
      if (text[end] === '}') {
        parts.push({ arg });
        i = end;
      } else {
        const [forms, after] = plural(text, text.indexOf(',', end + 1) + 1, arg);
        parts.push({ arg, forms });
        i = after;
      }
    } else {
      plain += text[i];
    }
  }
  flush();
  return [parts, i];
}

function plural(text: string, from: number, arg: string): [Record<string, Part[]>, number] {
  const forms: Record<string, Part[]> = {};
  let i = from;
  while (i < text.length && text[i] !== '}') {
    const open = text.indexOf('{', i);
    const [parts, close] = pieces(text, open + 1, arg);
    forms[text.slice(i, open).trim()] = parts;
    i = close + 1;
    while (text[i] === ' ') i++;
  }
  return [forms, i];
}

export interface Rules {
  plural: Intl.PluralRules;
  number: Intl.NumberFormat;
}

export function format(message: Message, params: Params, rules: Rules): string {
  if (typeof message === 'string') return message;
  let out = '';
  for (const part of message) {
    if (typeof part === 'string') {
      out += part;
      continue;
    }
    const value = params[part.arg];
    if (part.forms) {
      const form = part.forms[`=${value}`] ?? part.forms[rules.plural.select(Number(value))] ?? part.forms.other;
      out += format(form ?? [], params, rules);
    } else {
      out += typeof value === 'number' ? rules.number.format(value) : (value ?? `{${part.arg}}`);
    }
  }
  return out;
}
