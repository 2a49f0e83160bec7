import { get, post, send } from '$lib/api/client';
import type { User } from '$lib/api/types';

/** Who is signed in here. */
class SessionState {
  user = $state.raw<User | null>(null);
  home = $state.raw<{ id: string } | null>(null);

  /** @throws ApiError 401 when nobody is */
  async load() {
    const [user, roots] = await Promise.all([get<User>('/auth/me'), get<{ id: string }[]>('/folders')]);
    this.user = user;
    this.home = roots[0] ?? null;
  }
  async refreshUser() {
    this.user = await get<User>('/auth/me');
  }
  async signIn(username: string, password: string) {
    await send('/auth/login', { method: 'POST', json: { username, password }, final: true });
    await this.load();
  }
  async signOut() {
    await post('/auth/logout').catch(() => {});
    this.user = null;
    this.home = null;
  }
  get isAdmin() {
    return this.user?.role === 'admin';
  }
  get name() {
    return this.user?.display_name || this.user?.username || '';
  }
}
export const session = new SessionState();
