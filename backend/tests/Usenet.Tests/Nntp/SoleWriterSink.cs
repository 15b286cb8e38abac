using Sluice.Usenet.Nntp;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>Collects one article, and detects concurrent writers and calls after the end.</summary>
internal sealed class SoleWriterSink : IArticleSink
{
    private readonly CollectingSink _sink = new();
    private int _writers;
    private int _intruders;
    private bool _ended;

    /// <summary>Fails unless the fetch has ended without an intruder and the bytes are right.</summary>
    public void AssertIs(byte[] truth)
    {
        _writers = 1;
        Assert.True(_ended, "the article has no end");
        Assert.Equal(0, _intruders);
        Assert.True(_sink.Decoded.SequenceEqual(truth), "wrong bytes");
    }

    public void Start(int provider)
    {
        Enter();
        _sink.Start(provider);
        _writers = 0;
    }

    public bool Write(ReadOnlySpan<byte> raw, out int consumed)
    {
        Enter();
        _ended = _sink.Write(raw, out consumed);
        _writers = 0;
        return _ended;
    }

    private void Enter()
    {
        if (Interlocked.Exchange(ref _writers, 1) != 0 || _ended)
            Interlocked.Increment(ref _intruders);
    }
}
