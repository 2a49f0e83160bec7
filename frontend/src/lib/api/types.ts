export interface User {
  id: string;
  username: string;
  display_name: string;
  email: string;
  role: 'admin' | 'user';
  active: boolean;
  storage_quota_bytes: number;
  storage_used_bytes: number;
  created_at: string;
  last_login_at: string | null;
}

/** A file or folder as lists show it. Times are seconds since 1970, sizes bytes. */
export interface Item {
  kind: 'file' | 'folder';
  id: string;
  name: string;
  path: string;
  parent: string | null;
  size: number;
  mime: string;
  modified: number;
  created: number;
  etag: string;
  hash?: string;
  favourite?: boolean;
}

export interface Crumb {
  id: string;
  name: string;
}

export interface TrashedItem extends Item {
  trashedAt: string;
  daysLeft: number;
}

export interface Version {
  id: string;
  size: number;
  mime_type: string;
  modified_at: number;
  replaced_at: number;
  label: string | null;
  content_hash?: string;
}

export interface Session {
  id: string;
  user_agent: string;
  address: string;
  created_at: string;
  last_used_at: string;
  current: boolean;
}

export interface AppPassword {
  id: string;
  label: string;
  prefix: string;
  protocols: string[];
  read_only: boolean;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
  active: boolean;
  password?: string;
  username?: string;
}

export interface Page<T> {
  items: T[];
  next?: string;
}

export interface BatchAnswer {
  successful: unknown[];
  failed: { id: string; error: string; slug: string; status: number }[];
}

/* eslint-disable-next-line @typescript-eslint/no-explicit-any -- what the server says, before it is looked at */
export type Json = any;

export function itemOf(kind: 'file' | 'folder', node: Json): Item {
  return {
    kind,
    id: node.id,
    name: node.name,
    path: node.path ?? '',
    parent: (kind === 'folder' ? node.parent_id : node.folder_id) ?? null,
    size: node.size ?? 0,
    mime: node.mime_type ?? '',
    modified: node.modified_at ?? 0,
    created: node.created_at ?? 0,
    etag: node.etag ?? '',
    hash: node.content_hash,
    favourite: node.is_favorite ?? false,
  };
}
