using System.Buffers.Binary;
using System.Text;
using Sluice.Usenet.Media.Tracks;
using Xunit;

namespace Sluice.Usenet.Tests.Media.Tracks;

/// <summary>Writes headers of Matroska and MP4 files byte by byte, without any code of the readers.</summary>
internal static class HeaderWriter
{
    public static byte[] Join(params byte[][] parts) => [.. parts.SelectMany(part => part)];

    public static byte[] Hex(string text) => Convert.FromHexString(text.Replace(" ", "", StringComparison.Ordinal));

    /// <summary>Returns an EBML element whose size field has eight bytes.</summary>
    public static byte[] Element(uint id, params byte[][] content)
    {
        var body = Join(content);
        var size = new byte[8];
        BinaryPrimitives.WriteUInt64BigEndian(size, 0x0100_0000_0000_0000 | (ulong)(uint)body.Length);
        return Join(IdOf(id), size, body);
    }

    /// <summary>Returns an element of unknown size.</summary>
    public static byte[] OpenElement(uint id, params byte[][] content) => Join(IdOf(id), [0xFF], Join(content));

    public static byte[] Element(uint id, string text) => Element(id, Encoding.UTF8.GetBytes(text));

    public static byte[] Number(uint id, ulong number)
    {
        var bytes = new byte[8];
        BinaryPrimitives.WriteUInt64BigEndian(bytes, number);
        return Element(id, bytes);
    }

    public static byte[] Double(uint id, double number)
    {
        var bytes = new byte[8];
        BinaryPrimitives.WriteDoubleBigEndian(bytes, number);
        return Element(id, bytes);
    }

    /// <summary>Returns the first element of a Matroska file.</summary>
    public static byte[] Start(string type = "matroska") => Element(0x1A45DFA3, Element(0x4282, type));

    public static byte[] Segment(params byte[][] content) => Element(0x18538067, content);

    /// <summary>Returns <c>Info</c> with a duration in milliseconds.</summary>
    public static byte[] Info(double milliseconds) => Element(0x1549A966, Number(0x2AD7B1, 1_000_000), Double(0x4489, milliseconds));

    public static byte[] TrackList(params byte[][] entries) => Element(0x1654AE6B, entries);

    /// <summary>Returns a <c>TrackEntry</c>.</summary>
    public static byte[] Entry(int type, string codec, byte[]? setup = null, params byte[][] rest) =>
        Element(0xAE, [Number(0x83, (ulong)type), Element(0x86, codec), setup is null ? [] : Element(0x63A2, setup), .. rest]);

    public static byte[] Picture(int width, int height) => Element(0xE0, Number(0xB0, (ulong)width), Number(0xBA, (ulong)height));

    public static byte[] Sound(int channels) => Element(0xE1, Number(0x9F, (ulong)channels));

    public static byte[] Cluster(int length) => Element(0x1F43B675, new byte[length]);

    /// <summary>Returns a <c>SeekHead</c>, whose length does not depend on the positions.</summary>
    public static byte[] Index(params (uint Id, long Place)[] seeks) =>
        Element(0x114D9B74, [.. seeks.Select(seek => Element(0x4DBB, Element(0x53AB, IdOf(seek.Id)), Number(0x53AC, (ulong)seek.Place)))]);

    /// <summary>Returns a box of MP4.</summary>
    public static byte[] Box(string type, params byte[][] content)
    {
        var body = Join(content);
        return Join(Big32(8 + body.Length), Encoding.Latin1.GetBytes(type), body);
    }

    public static byte[] Big32(long number) => [(byte)(number >> 24), (byte)(number >> 16), (byte)(number >> 8), (byte)number];

    public static byte[] Big16(int number) => [(byte)(number >> 8), (byte)number];

    public static byte[] FileType(string brand = "isom") => Box("ftyp", Encoding.Latin1.GetBytes(brand), Big32(512));

    /// <summary>Returns a <c>moov</c> with a duration in milliseconds.</summary>
    public static byte[] Movie(long milliseconds, params byte[][] tracks) =>
        Box("moov", [Box("mvhd", Big32(0), Big32(0), Big32(0), Big32(1000), Big32(milliseconds), new byte[80]), .. tracks]);

    /// <summary>Returns a <c>trak</c> with the sample tables after the description, as in real files.</summary>
    public static byte[] Track(string handler, string language, byte[] entry, bool isEnabled = true, int tables = 0) =>
        Box(
            "trak",
            Box("tkhd", Big32(isEnabled ? 3 : 2), new byte[80]),
            Box(
                "mdia",
                Box("mdhd", Big32(0), Big32(0), Big32(0), Big32(1000), Big32(0), Packed(language), Big16(0)),
                Box("hdlr", Big32(0), Big32(0), Encoding.Latin1.GetBytes(handler), new byte[13]),
                Box("minf", Box("stbl", Box("stsd", Big32(0), Big32(1), entry), Box("stsz", new byte[tables])))));

    public static byte[] PictureEntry(string code, int width, int height, params byte[][] boxes) =>
        Box(code, [new byte[6], Big16(1), new byte[16], Big16(width), Big16(height), new byte[50], .. boxes]);

    public static byte[] SoundEntry(string code, int channels, params byte[][] boxes) =>
        Box(code, [new byte[6], Big16(1), new byte[8], Big16(channels), Big16(16), new byte[4], Big32(48_000L << 16), .. boxes]);

    /// <summary>Returns an <c>esds</c> with an object type and its setup.</summary>
    public static byte[] Descriptor(int type, byte[] setup)
    {
        var inner = Join([5, (byte)setup.Length], setup);
        var decoder = Join([4, (byte)(13 + inner.Length), (byte)type], new byte[12], inner);
        return Box("esds", Big32(0), Join([3, (byte)(3 + decoder.Length), 0, 1, 0], decoder));
    }

    private static byte[] Packed(string language) => Big16(((language[0] - 0x60) << 10) | ((language[1] - 0x60) << 5) | (language[2] - 0x60));

    private static byte[] IdOf(uint id) => [.. Big32(id).SkipWhile(part => part == 0)];
}

/// <summary>A file in memory that counts the bytes read.</summary>
internal sealed class CountedFile(byte[] start, long length, (long At, byte[] Bytes)? tail = null)
{
    public CountedFile(byte[] whole)
        : this(whole, whole.Length)
    {
    }

    public int Reads { get; private set; }

    public long Bytes { get; private set; }

    public ValueTask<MediaTracks> ReadTracksAsync() => TrackReader.ReadAsync(ReadAsync, length, CancellationToken.None);

    private ValueTask<ReadOnlyMemory<byte>> ReadAsync(long offset, int count, CancellationToken cancellationToken)
    {
        Reads++;
        Bytes += count;
        Assert.InRange(offset, 0, length - count);
        var bytes = new byte[count];
        Copy(start, 0, bytes, offset);
        if (tail is var (at, last))
            Copy(last, at, bytes, offset);
        return new(bytes);
    }

    private static void Copy(byte[] part, long at, byte[] into, long offset)
    {
        var (from, to) = (Math.Max(at, offset), Math.Min(at + part.Length, offset + into.Length));
        if (from < to)
            part.AsSpan((int)(from - at), (int)(to - from)).CopyTo(into.AsSpan((int)(from - offset)));
    }
}
