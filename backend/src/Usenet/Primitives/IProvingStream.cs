namespace Sluice.Usenet.Primitives;

/// <summary>A stream whose first byte may be delayed until many articles have confirmed its location.</summary>
public interface IProvingStream
{
    /// <summary>Registers a callback for each such article, once before the first read, because a wait during which articles arrive is not a stall.</summary>
    /// <param name="headArrived">Called on any thread during a read; must not block or throw.</param>
    void WatchProof(Action headArrived);
}
