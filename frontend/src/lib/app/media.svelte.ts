/** What the window is like; follows it. */
class Media {
  phone = $state(false);
  narrow = $state(false);
  coarse = $state(false);
  online = $state(true);
  watch() {
    const follow = (query: string, set: (on: boolean) => void) => {
      const list = matchMedia(query);
      set(list.matches);
      list.addEventListener('change', (e) => set(e.matches));
    };
    follow('(max-width: 639px)', (on) => (this.phone = on));
    follow('(max-width: 1120px)', (on) => (this.narrow = on));
    follow('(pointer: coarse)', (on) => (this.coarse = on));
    this.online = navigator.onLine;
    addEventListener('online', () => (this.online = true));
    addEventListener('offline', () => (this.online = false));
  }
}
export const media = new Media();
