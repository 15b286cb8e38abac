namespace Sluice.Usenet.Primitives;

/// <summary>A stream whose first byte may wait until many articles have confirmed its location.</summary>
public interface IProvingStream
{
    /// <summary>Registers, once before the first read, a callback for each such article, because a wait in which they arrive is not stalled.</summary>
    /// <param name="headArrived">Called on any thread during a read; must not block or throw.</param>
    void WatchProof(Action headArrived);
}
