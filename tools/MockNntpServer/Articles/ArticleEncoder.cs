using System.Buffers;
using System.Globalization;
using System.IO.Hashing;
using System.Text;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>Creates intact articles from message-ids: headers, yEnc or uuencode lines, trailer. Pure apart from reading media files.</summary>
internal static class ArticleEncoder
{
    /// <summary>Date of the first file of every release. Dates depend only on the file's number, so that articles are reproducible.</summary>
    public static readonly DateTimeOffset FirstPost = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);

    public const string Group = "alt.binaries.test";

    public const string Poster = "poster <poster@sluice.mock>";

    /// <summary>Returns the subject of an article. The NZB has the subject of the first part.</summary>
    public static string Subject(MockMessageId id) => string.Create(
        CultureInfo.InvariantCulture, $"[{id.File + 1}/{id.Files}] - \"{id.Name}\"{(id.IsUuencoded ? "" : " yEnc")} ({id.Part}/{id.Parts}) {id.FileSize}");

    /// <param name="text">The id as requested, which the response echoes.</param>
    /// <param name="media">The file to serve if the id names a media source; null for synthetic content.</param>
    public static WireArticle Encode(MockMessageId id, string text, MediaContent? media)
    {
        var body = EncodeBody(id, media, out var length, out var posted);
        try
        {
            return new WireArticle(text, Headers(id, text), body.AsSpan(0, length)) { Posted = posted };
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(body);
        }
    }

    /// <summary>Returns size and CRC of an article for the NZB, without keeping the article.</summary>
    public static PostedSize Measure(MockMessageId id, MediaContent? media)
    {
        var body = EncodeBody(id, media, out _, out var posted);
        ArrayPool<byte>.Shared.Return(body);
        return posted;
    }

    private static byte[] EncodeBody(MockMessageId id, MediaContent? media, out int length, out PostedSize posted)
    {
        var decoded = ArrayPool<byte>.Shared.Rent(Math.Max(1, id.Length));
        try
        {
            var part = decoded.AsSpan(0, id.Length);
            Fill(id, media, id.Begin, part);
            var crc = Crc32.HashToUInt32(part);
            if (id.IsUuencoded)
                return EncodeUu(id, part, crc, out length, out posted);

            var header = Encoding.UTF8.GetBytes(string.Create(
                CultureInfo.InvariantCulture,
                $"=ybegin part={id.Part} total={id.Parts} line={YencEncoder.LineLength} size={id.FileSize} name={id.Name}\r\n=ypart begin={id.Begin + 1} end={id.Begin + id.Length}\r\n"));
            var trailer = Encoding.ASCII.GetBytes(string.Create(
                CultureInfo.InvariantCulture, $"=yend size={id.Length} part={id.Part} pcrc32={crc:x8}{FileCrc(id, media, crc)}\r\n"));

            var body = ArrayPool<byte>.Shared.Rent(header.Length + YencEncoder.MaxEncodedLength(id.Length) + trailer.Length);
            header.CopyTo(body, 0);
            length = header.Length;
            length += YencEncoder.Encode(part, body.AsSpan(length), out var dots);
            trailer.CopyTo(body, length);
            length += trailer.Length;
            posted = new PostedSize(length - dots, crc);
            return body;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(decoded);
        }
    }

    private static byte[] EncodeUu(MockMessageId id, ReadOnlySpan<byte> part, uint crc, out int length, out PostedSize posted)
    {
        var plain = Uuencoder.Encode(part, id.Part == 1 ? id.Name : null, ends: id.Part == id.Parts);
        var stuffed = DotStuffing.Add(plain);
        var body = ArrayPool<byte>.Shared.Rent(stuffed.Length);
        stuffed.CopyTo(body, 0);
        (length, posted) = (stuffed.Length, new PostedSize(plain.Length, crc));
        return body;
    }

    private static string FileCrc(MockMessageId id, MediaContent? media, uint partCrc)
    {
        if (id.Part != id.Parts)
            return "";

        // The NZB writer puts the file CRC into the id. For a hand-written id the file is read again.
        var crc = id.FileCrc ?? (id.Parts == 1 ? partCrc : ComputeFileCrc(id, media));
        return string.Create(CultureInfo.InvariantCulture, $" crc32={crc:x8}");
    }

    private static uint ComputeFileCrc(MockMessageId id, MediaContent? media)
    {
        var block = new byte[1 << 20];
        var crc = new Crc32();
        for (long offset = 0; offset < id.FileSize; offset += block.Length)
        {
            var piece = block.AsSpan(0, (int)Math.Min(block.Length, id.FileSize - offset));
            Fill(id, media, offset, piece);
            crc.Append(piece);
        }

        return crc.GetCurrentHashAsUInt32();
    }

    private static void Fill(MockMessageId id, MediaContent? media, long offset, Span<byte> destination)
    {
        if (media is null)
            SyntheticContent.Fill(id.Seed, id.File, offset, destination);
        else
            media.Fill(offset, destination);
    }

    private static byte[] Headers(MockMessageId id, string text) => Encoding.UTF8.GetBytes(
        $"Path: sluice.mock!not-for-mail\r\nFrom: {Poster}\r\nNewsgroups: {Group}\r\nSubject: {Subject(id)}\r\n"
        + $"Date: {FirstPost.AddSeconds(id.File).ToString("r", CultureInfo.InvariantCulture)}\r\nMessage-ID: <{text}>\r\n");
}
