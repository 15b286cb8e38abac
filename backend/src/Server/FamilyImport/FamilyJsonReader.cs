using System.Buffers.Binary;
using System.Text.Json;

namespace Sluice.Server.FamilyImport;

/// <summary>Reads the file descriptions that old tables store as JSON.</summary>
internal static class FamilyJsonReader
{
    /// <summary>Reads a column. The caller passes the file length and any known segment lengths, because a plain post's column lacks them.</summary>
    /// <exception cref="FamilyFormatException">The value has another format.</exception>
    public static FamilyContent Read(FamilyKind kind, ReadOnlyMemory<byte> json, long length, byte[]? sizes)
    {
        try
        {
            // Skip a byte order mark, because the JSON parser rejects it.
            using var document = JsonDocument.Parse(json.Span.StartsWith("\uFEFF"u8) ? json[3..] : json);
            var root = document.RootElement;
            return kind switch
            {
                FamilyKind.Nzb => new FamilyContent([new FamilyPart(Texts(root), length, 0, length) { Segments = Sizes(sizes) }]),
                FamilyKind.Rar => new FamilyContent([.. root.EnumerateArray().Select(RarPart)]),
                _ => Multipart(root),
            };
        }
        catch (Exception e) when (e is JsonException or InvalidOperationException or KeyNotFoundException or FormatException)
        {
            throw new FamilyFormatException("what the old database says about it is no readable JSON", e);
        }
    }

    private static FamilyContent Multipart(JsonElement meta)
    {
        RequireNoMask(meta);
        var cipher = Member(meta, "AesParams") is { ValueKind: JsonValueKind.Object } aes
            ? new FamilyCipher(Required(aes, "Key").GetBytesFromBase64(), Required(aes, "Iv").GetBytesFromBase64(), Member(aes, "DecodedSize")?.GetInt64() ?? 0)
            : null;
        FamilyPart[] pending = Member(meta, "PendingParts") is { ValueKind: JsonValueKind.Array } list ? [.. list.EnumerateArray().Select(PendingPart)] : [];
        var isUnfinished = Member(meta, "IsLazy") is { ValueKind: JsonValueKind.True } || pending.Length > 0;
        return new FamilyContent([.. Required(meta, "FileParts").EnumerateArray().Select(FilePart)])
        {
            Cipher = cipher,
            IsUnfinished = isUnfinished,
            Pending = pending,
            // Only lazily read files have a path inside an archive.
            IsLazy = isUnfinished || Member(meta, "PathInArchive") is { ValueKind: JsonValueKind.String },
            Password = Member(meta, "ArchivePassword")?.GetString() is { Length: > 0 } password ? password : null,
        };
    }

    private static FamilyPart PendingPart(JsonElement part) => new(Texts(Required(part, "SegmentIds")), Range(Required(part, "SegmentIdByteRange")).End, 0, 0);

    private static FamilyPart FilePart(JsonElement part)
    {
        var (posted, file) = (Range(Required(part, "SegmentIdByteRange")), Range(Required(part, "FilePartByteRange")));
        if (posted.Begin != 0)
            throw new FamilyFormatException("it begins inside a posted file whose beginning the old database does not know");
        return new FamilyPart(Texts(Required(part, "SegmentIds")), posted.End, file.Begin, file.End - file.Begin) { Segments = Numbers(part, "SegmentSizes") };
    }

    private static FamilyPart RarPart(JsonElement part)
    {
        RequireNoMask(part);
        return new FamilyPart(
            Texts(Required(part, "SegmentIds")), Required(part, "PartSize").GetInt64(), Required(part, "Offset").GetInt64(), Required(part, "ByteCount").GetInt64());
    }

    // Refuse masked volumes, because only one fork can unmask them and Sluice cannot.
    private static void RequireNoMask(JsonElement element)
    {
        if (Member(element, "ObfuscationKey") is { ValueKind: JsonValueKind.String } key && key.GetString()!.Length > 0)
            throw new FamilyFormatException("its bytes are masked with a key, which Sluice does not undo");
    }

    private static (long Begin, long End) Range(JsonElement range) => (Required(range, "StartInclusive").GetInt64(), Required(range, "EndExclusive").GetInt64());

    private static List<string> Texts(JsonElement list) => [.. list.EnumerateArray().Select(text => text.GetString() ?? "")];

    private static List<long>? Numbers(JsonElement element, string name) =>
        Member(element, name) is { ValueKind: JsonValueKind.Array } list ? [.. list.EnumerateArray().Select(number => number.GetInt64())] : null;

    private static List<long>? Sizes(byte[]? sizes)
    {
        if (sizes is null || sizes.Length % sizeof(long) != 0)
            return null;
        var numbers = new List<long>(sizes.Length / sizeof(long));
        for (var at = 0; at < sizes.Length; at += sizeof(long))
            numbers.Add(BinaryPrimitives.ReadInt64LittleEndian(sizes.AsSpan(at)));
        return numbers;
    }

    private static JsonElement Required(JsonElement element, string name) =>
        Member(element, name) ?? throw new FamilyFormatException($"what the old database says about it lacks {name}");

    private static JsonElement? Member(JsonElement element, string name) => element.TryGetProperty(name, out var value) && value.ValueKind != JsonValueKind.Null ? value : null;
}
