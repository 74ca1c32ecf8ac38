// Dragging, pinching, wheel and click on a canvas. One finger up and down still scrolls the page.

const CLICK = 4; // pixels a finger or a mouse may slip
const NOTCH = 0.0016;

export function gestures(canvas, { drag, zoom, click }) {
  const down = new Map();
  let slipped = 0;

  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const spread = () => {
    const [one, other] = [...down.values()];
    return { size: Math.hypot(one.x - other.x, one.y - other.y), x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 };
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    if (!down.size) slipped = 0;
    down.set(event.pointerId, place(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = down.get(event.pointerId);
    if (!before) return;
    const now = place(event);
    slipped += Math.hypot(now.x - before.x, now.y - before.y);
    const old = down.size === 2 ? spread() : null;
    down.set(event.pointerId, now);
    if (slipped < CLICK) return;
    if (!old) drag(now.x - before.x, now.y - before.y);
    else {
      const found = spread();
      drag(found.x - old.x, found.y - old.y);
      zoom(old.size / Math.max(1, found.size), found.x, found.y);
    }
  });
  canvas.addEventListener("pointerup", (event) => {
    if (down.delete(event.pointerId) && !down.size && slipped < CLICK) {
      const { x, y } = place(event);
      click(x, y);
    }
  });
  canvas.addEventListener("pointercancel", (event) => down.delete(event.pointerId));
  canvas.addEventListener(
    "wheel",
    (event) => {
      // A page that only passes by is scrolled; one that was clicked or a held Ctrl zooms.
      if (document.activeElement !== canvas && !event.ctrlKey) return;
      event.preventDefault();
      const { x, y } = place(event);
      zoom(Math.exp(Math.max(-300, Math.min(300, event.deltaY)) * NOTCH), x, y);
    },
    { passive: false },
  );
}
