using System.Text;
using Sluice.Server.FamilyImport;
using Sluice.Tools.MockNntpServer.Layouts;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Server.Tests.FamilyImport;

/// <summary>Blobs of the family are read as written, and never beyond their contents.</summary>
public sealed class FamilyBlobReaderTests
{
    private static readonly OldFile[] Files =
    [
        new(Guid.NewGuid(), "plain", MockBytes.Synthetic(1, 0, 900), 201, [new(["a@x", "\u00e9@x", "c@x"], 900, 0, 900)], null),
        new(Guid.NewGuid(), "rar", MockBytes.Synthetic(1, 0, 1500), 202, [new(["a@x"], 1000, 100, 800), new(["b@x", "c@x"], 1000, 60, 700)], null),
        new(Guid.NewGuid(), "multipart", MockBytes.Synthetic(1, 0, 1000), 203, [new([.. Enumerable.Range(0, 40).Select(i => $"part{i}@x")], 1008, 0, 1008)], new StreamCipher(new byte[32], new byte[16])),
    ];

    public static TheoryData<int> Kinds => [0, 1, 2];

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Written_blob_is_read_back_unchanged(int which)
    {
        var file = Files[which];

        var content = FamilyBlobReader.Read(KindOf(file), OldServer.Blob(file), file.Truth.Length);

        Assert.Equal(file.Parts.Select(part => (string.Join(' ', part.Ids), part.Posted, part.Offset, part.Length)), content.Parts.Select(part => (string.Join(' ', part.Ids), part.PostedLength, part.Offset, part.Length)));
        Assert.Equal(file.Cipher is null, content.Cipher is null);
        Assert.Equal(file.Cipher is null ? 0 : file.Truth.Length, content.Cipher?.Length ?? 0);
        Assert.False(content.IsUnfinished);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Truncated_blob_is_refused(int which)
    {
        var blob = OldServer.Blob(Files[which]);

        for (var length = 0; length < blob.Length; length++)
        {
            var cut = blob[..length];
            Assert.Throws<FamilyFormatException>(() => FamilyBlobReader.Read(KindOf(Files[which]), cut, 900));
        }
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Blob_with_any_changed_byte_is_read_or_cleanly_refused(int which)
    {
        var blob = OldServer.Blob(Files[which]);
        for (var at = 0; at < blob.Length; at++)
        {
            foreach (var value in (byte[])[0, 1, 0x7F, 0x80, 0x84, 0xFF])
            {
                var changed = (byte[])[.. blob[..at], value, .. blob[(at + 1)..]];
                try
                {
                    var content = FamilyBlobReader.Read(KindOf(Files[which]), changed, 900);
                    Assert.True(content.Parts.Sum(part => part.Ids.Count) <= blob.Length);
                }
                catch (FamilyFormatException e)
                {
                    Assert.NotEqual("", e.Message);
                }
            }
        }
    }

    [Theory]
    [InlineData("")]
    [InlineData("[")]
    [InlineData("ZSTD:")]
    [InlineData("ZSTD:%%%")]
    [InlineData("ZSTD:AAAAAAAA")]
    [InlineData("no base64!")]
    [InlineData("AAAA")]
    [InlineData("{\"FileParts\":[{}]}")]
    [InlineData("[{\"SegmentIds\":[1]}]")]
    public void Damaged_column_is_refused(string column)
    {
        foreach (var kind in (FamilyKind[])[FamilyKind.Rar, FamilyKind.Multipart])
            Assert.Throws<FamilyFormatException>(() => FamilyJsonReader.Read(kind, FamilyText.Read(column), 900, null));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Lazily_read_file_reports_resolved_and_pending_volumes(int resolved)
    {
        OldPart[] parts = [.. Enumerable.Range(0, 3).Select(i => new OldPart([$"a{i}@x", $"b{i}@x"], 1000, 60, 500) { Encoded = 1040 })];
        var file = new OldFile(Guid.NewGuid(), "film.mkv", MockBytes.Synthetic(1, 0, 1500), 203, parts, null) { Resolved = resolved, Password = "p\u00e4ss" };

        foreach (var content in (FamilyContent[])[
            FamilyBlobReader.Read(FamilyKind.Multipart, OldServer.Blob(file), 1500),
            FamilyJsonReader.Read(FamilyKind.Multipart, Encoding.UTF8.GetBytes(OldServer.Json(file).ToJsonString()), 1500, null)])
        {
            Assert.Equal((resolved < 3, true, "p\u00e4ss"), (content.IsUnfinished, content.IsLazy, content.Password));
            Assert.Equal(parts.Take(resolved).Select(part => part.Ids[0]), content.Parts.Select(part => part.Ids[0]));
            Assert.Equal(parts.Take(resolved).Select((_, i) => i == 0 ? 1000L : 1040L), content.Parts.Select(part => part.PostedLength));
            Assert.Equal(parts.Skip(resolved).Select(part => (part.Ids[1], 1040L)), content.Pending.Select(part => (part.Ids[1], part.PostedLength)));
        }
    }

    [Fact]
    public void Unfinished_file_is_flagged_and_masked_file_is_refused()
    {
        var lazy = FamilyJsonReader.Read(FamilyKind.Multipart, Encoding.UTF8.GetBytes("""{"IsLazy":true,"FileParts":[]}"""), 900, null);

        Assert.True(lazy.IsUnfinished);
        var masked = Assert.Throws<FamilyFormatException>(
            () => FamilyJsonReader.Read(FamilyKind.Multipart, Encoding.UTF8.GetBytes("""{"ObfuscationKey":"AQID","FileParts":[]}"""), 900, null));
        Assert.Contains("masked", masked.Message, StringComparison.Ordinal);
    }

    private static FamilyKind KindOf(OldFile file) => file.Kind switch { 201 => FamilyKind.Nzb, 202 => FamilyKind.Rar, _ => FamilyKind.Multipart };
}
