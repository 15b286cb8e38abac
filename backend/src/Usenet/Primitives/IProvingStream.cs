namespace Sluice.Usenet.Primitives;

/// <summary>A stream whose first byte may have to wait until many articles have shown where it lies.</summary>
public interface IProvingStream
{
    /// <summary>Sets what counts these articles: a wait in which they arrive is slow, but not stalled. Called before the first read, once.</summary>
    /// <param name="headArrived">Called for each article, on any thread, during a read; must not block or throw.</param>
    void WatchProof(Action headArrived);
}
