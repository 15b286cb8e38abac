namespace Sluice.Usenet.Primitives;

/// <summary>A stream whose first byte may wait until many articles have confirmed its location.</summary>
public interface IProvingStream
{
    /// <summary>
    /// Registers a callback that counts these articles, so that a wait in which they arrive counts as slow and not as stalled. Called once, before
    /// the first read.
    /// </summary>
    /// <param name="headArrived">Called for each article, on any thread, during a read; must not block or throw.</param>
    void WatchProof(Action headArrived);
}
