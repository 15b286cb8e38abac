using System.Text;
using Sluice.Usenet.Tests.Yenc;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>One part of a file and one way in which it may come damaged, both from one seed.</summary>
internal sealed class MutatedArticle
{
    public const long FileSize = 1_000_000;
    public const int Begin = 300_000;

    private readonly Random _random;

    public MutatedArticle(int seed)
    {
        _random = new Random(seed);
        Data = TestArticle.Noise(_random.Next(400, 2500), seed);
        Good = TestArticle.OnWire(Body(Data));
        Wire = Mutate();
    }

    /// <summary>The bytes that were posted.</summary>
    public byte[] Data { get; }

    /// <summary>The article as it was posted.</summary>
    public byte[] Good { get; }

    /// <summary>The article as it arrives.</summary>
    public byte[] Wire { get; }

    private static string Body(byte[] data, int part = 2, long begin = Begin) => TestArticle.Part(data, begin, FileSize, part, 4);

    private byte[] Mutate() => _random.Next(10) switch
    {
        0 or 1 or 2 => Flip(),
        3 => Overwrite(),
        4 => Cut(),
        5 => Break(),
        6 => TestArticle.OnWire(Body(Data, part: _random.Next(3, 9))),
        7 => TestArticle.OnWire(Body(Data, begin: Begin + _random.Next(1, 5000))),
        8 => TestArticle.OnWire(Body(TestArticle.Noise(Data.Length, _random.Next()))[..^10] + Body(Data)[^10..]),
        _ => TestArticle.OnWire(Body(TestArticle.Noise(Data.Length + _random.Next(1, 900), 5))),
    };

    /// <summary>One to eight bits turned over in the lines of data.</summary>
    private byte[] Flip()
    {
        var wire = (byte[])Good.Clone();
        var (from, to) = Lines();
        for (var flips = _random.Next(1, 9); flips > 0; flips--)
            wire[_random.Next(from, to)] ^= (byte)(1 << _random.Next(8));
        return EndOnce(wire);
    }

    /// <summary>A stretch of the data comes from somewhere else.</summary>
    private byte[] Overwrite()
    {
        var wire = (byte[])Good.Clone();
        var (from, to) = Lines();
        var start = _random.Next(from, to);
        wire.AsSpan(start, Math.Min(_random.Next(1, 400), to - start)).Fill((byte)'x');
        return EndOnce(wire);
    }

    /// <summary>A stretch of the data is missing.</summary>
    private byte[] Cut()
    {
        var (from, to) = Lines();
        var start = _random.Next(from, to - 1);
        var length = _random.Next(1, Math.Min(500, to - start));
        return EndOnce([.. Good.AsSpan(0, start), .. Good.AsSpan(start + length)]);
    }

    /// <summary>The article breaks off inside the data.</summary>
    private byte[] Break()
    {
        var (from, to) = Lines();
        return EndOnce([.. Good.AsSpan(0, _random.Next(from, to - 200)), .. "\r\n.\r\n"u8]);
    }

    /// <summary>Where the lines of data begin and end.</summary>
    private (int From, int To) Lines()
    {
        var text = Encoding.Latin1.GetString(Good);
        var header = text.IndexOf("\r\n", text.IndexOf("=ypart", StringComparison.Ordinal), StringComparison.Ordinal) + 2;
        return (header, text.IndexOf("=yend", StringComparison.Ordinal));
    }

    /// <summary>What ends the body by accident would end it on the wire as well.</summary>
    private static byte[] EndOnce(byte[] wire)
    {
        var end = wire.AsSpan().IndexOf("\r\n.\r\n"u8);
        return wire[..(end + 5)];
    }
}
