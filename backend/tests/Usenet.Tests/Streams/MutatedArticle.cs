using System.Globalization;
using System.Text;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Tests.Yenc;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>One part of a file with one kind of damage, both derived from a seed, and the expected verdict.</summary>
internal sealed class MutatedArticle
{
    public const long FileSize = 1_000_000;
    public const int Begin = 300_000;

    /// <summary>Number of kinds of damage; neighboring seeds have different ones.</summary>
    public const int Ways = 40;

    private readonly Random _random;

    /// <param name="seed">Determines everything.</param>
    /// <param name="longest">Most bytes of data.</param>
    public MutatedArticle(int seed, int longest = 2500)
    {
        _random = new Random(seed);
        Data = TestArticle.Noise(_random.Next(Math.Min(400, longest - 300), longest), seed);
        Good = TestArticle.OnWire(Body(Data));
        Wire = Mutate((int)((uint)seed % Ways));
    }

    /// <summary>Known siblings of an article.</summary>
    public enum Siblings
    {
        WithChecksums,
        WithoutChecksums,
        None,
    }

    /// <summary>The posted bytes.</summary>
    public byte[] Data { get; }

    /// <summary>The article as posted.</summary>
    public byte[] Good { get; }

    /// <summary>The article as received, with the damage.</summary>
    public byte[] Wire { get; }

    /// <summary>Name of the mutation.</summary>
    public string Way { get; private set; } = "";

    /// <summary>The expected verdict; null if it depends on the positions of the flipped bits.</summary>
    public SegmentProof? Expected { get; private set; }

    /// <summary>Whether header and trailer are intact, so that only the bytes decide.</summary>
    public bool HasGoodKeywords { get; private set; }

    /// <summary>Whether the checksum is missing, which is no defect if the siblings have none either.</summary>
    public bool LacksChecksum { get; private set; }

    /// <summary>Returns the expected verdict for known siblings; null if it depends on the positions of the flipped bits.</summary>
    public SegmentProof? ExpectedBeside(Siblings siblings) =>
        siblings == Siblings.WithoutChecksums && LacksChecksum && Expected == SegmentProof.Unconfirmed ? SegmentProof.Proved : Expected;

    private static string Body(byte[] data, int part = 2, long begin = Begin) => TestArticle.Part(data, begin, FileSize, part, 4);

    private byte[] Mutate(int way) => way switch
    {
        0 or 1 or 2 => Bytes("bits in data", Flip(Good)),
        3 => Bytes("data overwritten", Overwrite()),
        4 => Bytes("data cut out", Cut()),
        5 => Bytes("broken off", Break()),
        6 => Whole("another part", SegmentProof.Corrupt, Body(Data, part: _random.Next(3, 9))),
        7 => Whole("another place", SegmentProof.Corrupt, Body(Data, begin: Begin + _random.Next(1, 5000))),
        8 => Whole("other bytes under the checksum", SegmentProof.Corrupt, Body(Noise(Data.Length))[..^10] + Body(Data)[^10..]),
        9 => Whole("longer", SegmentProof.Corrupt, Body(Noise(Data.Length + _random.Next(1, 900)))),

        10 => Lost("no trailer", Without(Body(Data), "=yend")),
        11 => Lost("no checksum", Field("=yend", "pcrc32", null)),
        12 => Lost("checksum of another name", Body(Data).Replace(" pcrc32=", " pcrc23=", StringComparison.Ordinal)),
        13 => Whole("unreadable checksum", SegmentProof.Unconfirmed, Field("=yend", "pcrc32", Checksum().Insert(_random.Next(8), Garbage()))),
        14 => Whole("empty checksum", SegmentProof.Unconfirmed, Field("=yend", "pcrc32", "")),
        15 => Whole("another checksum", SegmentProof.Corrupt, Field("=yend", "pcrc32", $"{~Convert.ToUInt32(Checksum(), 16) ^ (uint)_random.Next(1000):x8}")),
        16 => Whole("checksum in capitals", SegmentProof.Proved, Field("=yend", "pcrc32", Checksum().ToUpperInvariant())),
        17 => Whole("checksum of more digits", SegmentProof.Proved, Field("=yend", "pcrc32", "ffffffff" + Checksum())),
        18 => Whole("another size in the trailer", SegmentProof.Corrupt, Field("=yend", "size", Number(Data.Length + _random.Next(1, 100)))),
        19 => Whole("unreadable size in the trailer", SegmentProof.Proved, Field("=yend", "size", Garbage())),
        20 => Whole("another part in the trailer", SegmentProof.Proved, Field("=yend", "part", "7")),

        21 => Whole("no part number", SegmentProof.Proved, Field("=ybegin", "part", null)),
        22 => Whole("unreadable part number", SegmentProof.Proved, Field("=ybegin", "part", "2" + Garbage())),
        23 => Whole("decoys", SegmentProof.Proved, Field(Field("=ybegin", "total", Number(_random.Next())), "=ybegin", "size", Number(_random.Next()))),
        24 => Whole("no size", SegmentProof.Corrupt, Field("=ybegin", "size", null)),
        25 => Whole("no header", SegmentProof.Corrupt, Without(Body(Data), "=ybegin", 1)),
        26 => Whole("no range", SegmentProof.Unconfirmed, Without(Body(Data), "=ypart", 1)),
        27 => Whole("range line of another name", SegmentProof.Unconfirmed, Body(Data).Replace("=ypart", "=ypatr", StringComparison.Ordinal)),
        28 => Whole("another begin", SegmentProof.Corrupt, Field("=ypart", "begin", Number(Begin + 1 - _random.Next(1, 1000)))),
        29 => Whole("another end", SegmentProof.Corrupt, Field("=ypart", "end", Number(Begin + Data.Length + _random.Next(1, 1000)))),
        30 => Whole("range from zero", SegmentProof.Unconfirmed, Field("=ypart", "begin", "0")),
        31 => Whole("range reversed", SegmentProof.Unconfirmed, Field("=ypart", "begin", Number(Begin + Data.Length + _random.Next(1, 1000)))),
        32 => Whole("range without an end", SegmentProof.Unconfirmed, Field("=ypart", "end", null)),
        33 => Whole("unreadable range", SegmentProof.Unconfirmed, Field("=ypart", "end", Garbage())),

        34 => Foreign("another article without a range", Without(Body(Noise(Data.Length)), "=ypart", 1)),
        35 => Foreign("another article with no usable range", Field(Body(Noise(Data.Length)), "=ypart", "begin", "-5")),
        36 => Foreign("other bytes under an unreadable checksum", Field(Body(Noise(Data.Length)), "=yend", "pcrc32", Garbage())),
        37 => Whole("another article, another part, no range", SegmentProof.Corrupt, Without(Body(Noise(Data.Length), part: 3), "=ypart", 1)),
        38 => FlipKeywords("bits in header and trailer", Good),
        _ => FlipKeywords("bits everywhere", Flip(Good)),
    };

    private byte[] Noise(int length) => TestArticle.Noise(length, _random.Next());

    private static string Number(long value) => value.ToString(CultureInfo.InvariantCulture);

    private string Checksum() => YencReference.Crc(Data).ToString("x8", CultureInfo.InvariantCulture);

    private string Garbage() => ((char)_random.Next('g', 'z' + 1)).ToString();

    /// <summary>Damages the data and leaves the checksum unchanged.</summary>
    private byte[] Bytes(string way, byte[] wire)
    {
        (Way, HasGoodKeywords) = (way, true);
        return wire;
    }

    private byte[] Whole(string way, SegmentProof expected, string body)
    {
        (Way, Expected) = (way, expected);
        return TestArticle.OnWire(body);
    }

    private byte[] Lost(string way, string body)
    {
        LacksChecksum = true;
        return Whole(way, SegmentProof.Unconfirmed, body);
    }

    /// <summary>Returns wrong bytes that no field contradicts.</summary>
    private byte[] Foreign(string way, string body) => Whole(way, SegmentProof.Unconfirmed, body);

    /// <summary>Returns the good body with another value of one field, or without the field if null.</summary>
    private string Field(string keyword, string key, string? value) => Field(Body(Data), keyword, key, value);

    private static string Field(string body, string keyword, string key, string? value)
    {
        var line = body.IndexOf(keyword, StringComparison.Ordinal);
        var from = body.IndexOf($" {key}=", line, StringComparison.Ordinal);
        var to = body.AsSpan(from + 1).IndexOfAny(' ', '\r') + from + 1;
        return body[..from] + (value is null ? "" : $" {key}={value}") + body[to..];
    }

    /// <summary>Returns the body without a keyword line, or cut off before it.</summary>
    private static string Without(string body, string keyword, int? lines = null)
    {
        var from = body.IndexOf(keyword, StringComparison.Ordinal);
        return body[..from] + (lines is null ? "" : body[(body.IndexOf("\r\n", from, StringComparison.Ordinal) + 2)..]);
    }

    /// <summary>Flips one to three bits in the keyword lines.</summary>
    private byte[] FlipKeywords(string way, byte[] wire)
    {
        Way = way;
        wire = (byte[])wire.Clone();
        var (from, to) = Lines(wire);
        for (var flips = _random.Next(1, 4); flips > 0; flips--)
        {
            var at = _random.Next(from + wire.Length - 5 - to);
            wire[at < from ? at : at - from + to] ^= (byte)(1 << _random.Next(8));
        }

        return EndOnce(wire);
    }

    /// <summary>Flips one to eight bits in the lines of data.</summary>
    private byte[] Flip(byte[] good)
    {
        var wire = (byte[])good.Clone();
        var (from, to) = Lines(wire);
        for (var flips = _random.Next(1, 9); flips > 0; flips--)
            wire[_random.Next(from, to)] ^= (byte)(1 << _random.Next(8));
        return EndOnce(wire);
    }

    /// <summary>Overwrites a range of the data.</summary>
    private byte[] Overwrite()
    {
        var wire = (byte[])Good.Clone();
        var (from, to) = Lines(wire);
        var start = _random.Next(from, to);
        wire.AsSpan(start, Math.Min(_random.Next(1, 400), to - start)).Fill((byte)'x');
        return EndOnce(wire);
    }

    /// <summary>Removes a range of the data.</summary>
    private byte[] Cut()
    {
        var (from, to) = Lines(Good);
        var start = _random.Next(from, to - 1);
        var length = _random.Next(1, Math.Min(500, to - start));
        return EndOnce([.. Good.AsSpan(0, start), .. Good.AsSpan(start + length)]);
    }

    /// <summary>Ends the article inside the data.</summary>
    private byte[] Break()
    {
        var (from, to) = Lines(Good);
        return EndOnce([.. Good.AsSpan(0, _random.Next(from, to - 200)), .. "\r\n.\r\n"u8]);
    }

    /// <summary>Returns begin and end of the lines of data; for an article of the original length those of the original, as keywords may be damaged.</summary>
    private (int From, int To) Lines(byte[] wire)
    {
        var text = Encoding.Latin1.GetString(wire.Length == Good.Length ? Good : wire);
        var header = text.IndexOf("\r\n", text.IndexOf("=ypart", StringComparison.Ordinal), StringComparison.Ordinal) + 2;
        var trailer = text.IndexOf("=yend", StringComparison.Ordinal);
        return trailer < 0 ? (header, wire.Length - 5) : (header, trailer);
    }

    /// <summary>Truncates the bytes at an accidental end of the body, as the receiver would.</summary>
    private static byte[] EndOnce(byte[] wire)
    {
        var end = wire.AsSpan().IndexOf("\r\n.\r\n"u8);
        return end < 0 ? [.. wire, .. "\r\n.\r\n"u8] : wire[..(end + 5)];
    }
}
