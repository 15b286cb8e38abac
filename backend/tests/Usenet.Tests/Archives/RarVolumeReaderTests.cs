using Sluice.Usenet.Archives;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Reads volumes from the first byte to the last header.</summary>
public sealed class RarVolumeReaderTests
{
    private static readonly byte[] Data = [.. Enumerable.Range(0, 200).Select(i => (byte)i)];

    public static TheoryData<string> Kinds => ["rar4", "rar5", "rar4-hp", "rar5-hp"];

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task A_volume_is_read_to_its_end(string kind)
    {
        var volume = await RarRead.Volume(Written(kind), RarRead.With("wrong", "secret"));

        Assert.Equal(kind.EndsWith("hp", StringComparison.Ordinal), volume.HasEncryptedHeaders);
        Assert.True(volume is { IsVolume: true, IsFirst: true, IsWhole: true, Continues: true, Number: 0, HasAllParts: true });
        Assert.Equal(["first.txt", "film.mkv"], volume.Parts.Select(part => part.Path));
        Assert.Equal("film.mkv", volume.Tail!.Path);
        foreach (var part in volume.Parts)
            Assert.Equal(Data[..(int)part.DataLength], Written(kind).AsSpan((int)part.DataOffset, (int)part.DataLength).ToArray());
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Head_read_stops_at_the_first_file(string kind)
    {
        var bytes = Written(kind);
        var whole = await RarRead.Volume(bytes, RarRead.With("secret"));
        var budget = new ArchiveBudget();
        var head = await RarVolumeReader.ReadAsync(
            new HeaderWindow(new RarInput(bytes), budget), RarRead.With("secret"), RarDepth.FirstFile, TestContext.Current.CancellationToken);

        Assert.Equal("first.txt", Assert.Single(head.Parts).Path);
        Assert.Equal(whole.Parts[0].Identity, head.Head!.Identity);
        Assert.True(head is { IsWhole: false, Continues: null, HasAllParts: false });
        // The reader requests a byte more than the marker of RAR 4 has.
        Assert.InRange(budget.Bytes, 1, whole.Parts[0].DataOffset + 1);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Truncated_volume_is_broken_or_lacks_its_end(string kind)
    {
        var bytes = Written(kind);
        var whole = await RarRead.Volume(bytes, RarRead.With("secret"));
        var dataEnd = whole.Parts[^1].DataOffset + whole.Parts[^1].DataLength;
        var isReadable = new List<int>();
        for (var length = 0; length < bytes.Length; length++)
        {
            try
            {
                var cut = await RarRead.Volume(bytes.AsMemory(0, length), RarRead.With("secret"));
                Assert.Null(cut.Continues);
                isReadable.Add(length);
            }
            catch (ArchiveException exception)
            {
                // A wrong password can also cause a header that ends after the volume.
                Assert.True(exception.Fault == ArchiveFault.Broken || (exception.Fault == ArchiveFault.WrongPassword && kind == "rar4-hp"));
            }
        }

        // Only a cut between two headers leaves a readable volume, because some programs write no end block.
        Assert.Contains((int)dataEnd, isReadable);
        Assert.InRange(isReadable.Count, 3, 4);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Damaged_byte_before_the_data_never_changes_the_headers(string kind)
    {
        var bytes = Written(kind);
        var whole = await RarRead.Volume(bytes, RarRead.With("secret"));
        for (var at = 0; at < whole.Parts[0].DataOffset; at++)
        {
            var damaged = (byte[])bytes.Clone();
            damaged[at] ^= 0x40;
            try
            {
                // Only a damaged initial vector stays readable, because it changes only the padding after a header.
                var read = await RarRead.Volume(damaged, RarRead.With("secret"));
                Assert.Equal("rar5-hp", kind);
                Assert.Equal(
                    whole.Parts.Select(part => (part.Identity, part.DataOffset, part.DataLength)),
                    read.Parts.Select(part => (part.Identity, part.DataOffset, part.DataLength)));
            }
            catch (ArchiveException exception)
            {
                Assert.True(exception.Fault is ArchiveFault.Broken or ArchiveFault.WrongPassword or ArchiveFault.Unsupported);
            }
        }
    }

    [Theory]
    [InlineData("MZ\u0090\0and so on", ArchiveFault.Unsupported)]
    [InlineData("\u007FELF and so on", ArchiveFault.Unsupported)]
    [InlineData("RE~^ and so on", ArchiveFault.Unsupported)]
    [InlineData("PK\u0003\u0004 and so on", ArchiveFault.Broken)]
    [InlineData("Rar", ArchiveFault.Broken)]
    [InlineData("", ArchiveFault.Broken)]
    public async Task Wrong_signature_is_refused(string beginning, ArchiveFault expected) =>
        Assert.Equal(expected, await RarRead.FaultOf(() => RarRead.Volume(System.Text.Encoding.Latin1.GetBytes(beginning))));

    [Fact]
    public async Task A_volume_without_main_header_is_broken()
    {
        Assert.Equal(ArchiveFault.Broken, await RarRead.FaultOf(() => RarRead.Volume(new Rar5Writer().File("x", 1, [1]).End().ToArray())));
        Assert.Equal(ArchiveFault.Broken, await RarRead.FaultOf(() => RarRead.Volume(new Rar5Writer().Main().Main().End().ToArray())));
        Assert.Equal(ArchiveFault.Broken, await RarRead.FaultOf(() => RarRead.Volume("Rar!\x1A\x07\0"u8.ToArray())));
    }

    [Fact]
    public async Task Service_blocks_are_skipped_at_any_position()
    {
        var rar4 = new Rar4Writer().File("CMT", 9, Data, method: '3', type: 0x7A).Block(0x76, 0x8000, [3, 0, 0, 0], [1, 2, 3], isSound: false)
            .File("film.mkv", 200, Data).File("RR", 9, Data, type: 0x7A).Block(0x79, 0, [], []).End();
        var rar5 = new Rar5Writer().Main().File("CMT", 9, Data, method: 3, type: 3).File("film.mkv", 200, Data).File("ACL", 1, [1], flags: 0x20, type: 3)
            .File("QO", 9, Data, type: 3).File("RR", 9, Data, type: 3).End();
        foreach (var bytes in new[] { rar4.ToArray(), rar5.ToArray() })
        {
            var volume = await RarRead.Volume(bytes);
            var part = Assert.Single(volume.Parts);
            Assert.Equal("film.mkv", part.Path);
            Assert.Equal(Data, bytes.AsSpan((int)part.DataOffset, (int)part.DataLength).ToArray());
        }
    }

    [Fact]
    public async Task Solid_archive_is_flagged_and_its_stored_files_are_read()
    {
        byte[][] solid = [new Rar4Writer(Rar4Writer.Solid).File("x", 1, [1], 0x10).End().ToArray(), new Rar5Writer().Main(flags: 4).File("x", 1, [1]).End().ToArray()];
        foreach (var volume in await RarRead.Volumes(solid))
        {
            Assert.True(volume.IsSolid);
            Assert.Null(Assert.Single(RarSet.Join([volume], RarRead.NoPasswords).Entries).Method);
        }
    }

    [Fact]
    public async Task Headers_beyond_the_step_budget_are_unsupported()
    {
        var writer = new Rar5Writer().Main();
        for (var i = 0; i < ArchiveBudget.BaseSteps; i++)
            writer.Block(3, 0, [], [], []);
        Assert.Equal(ArchiveFault.Unsupported, await RarRead.FaultOf(() => RarRead.Volume(writer.End().ToArray())));
    }

    [Fact]
    public async Task Header_longer_than_the_budget_is_not_read()
    {
        byte[] bytes = [.. new Rar5Writer().ToArray(), 0, 0, 0, 0, 0xFF, 0xFF, 0x7F, .. new byte[2 << 20]];
        var budget = new ArchiveBudget();
        var fault = await RarRead.FaultOf(async () => await RarVolumeReader.ReadAsync(
            new HeaderWindow(new RarInput(bytes), budget), RarRead.NoPasswords, RarDepth.Whole, TestContext.Current.CancellationToken));

        Assert.Equal(ArchiveFault.Unsupported, fault);
        Assert.InRange(budget.Bytes, 1, 100);
    }

    [Fact]
    public async Task Unknown_header_encryption_is_unsupported() =>
        Assert.Equal(
            ArchiveFault.Unsupported,
            await RarRead.FaultOf(() => RarRead.Volume(new Rar5Writer().Block(4, 0, [1, 0, 4, .. Rar5Writer.Salt], [], []).ToArray())));

    [Theory]
    [InlineData("rar4-hp")]
    [InlineData("rar5-hp")]
    [InlineData("rar5-hp-unchecked")]
    [InlineData("rar5-hp-wrong-sum")]
    public async Task Encrypted_headers_open_only_with_the_right_password(string kind)
    {
        var bytes = Written(kind);
        var passwords = RarRead.With("wrong", "other", "secret");

        Assert.Equal(2, (await RarRead.Volume(bytes, passwords)).Parts.Count);
        Assert.Equal("secret", passwords.Candidates[0]);
        Assert.Equal(ArchiveFault.WrongPassword, await RarRead.FaultOf(() => RarRead.Volume(bytes, RarRead.With("wrong", "other"))));
        Assert.Equal(ArchiveFault.NoPassword, await RarRead.FaultOf(() => RarRead.Volume(bytes)));
    }

    [Fact]
    public async Task Many_wrong_passwords_cost_few_bytes()
    {
        foreach (var kind in new[] { "rar4-hp", "rar5-hp-unchecked" })
        {
            var budget = new ArchiveBudget();
            var wrong = Enumerable.Range(0, 1000).Select(i => $"wrong {i}").ToArray();
            var passwords = new RarPasswords(new ArchiveKeys(wrong, new FreeKeyDeriver(), maxRounds: long.MaxValue));
            byte[] bytes = [.. Written(kind), .. new byte[100_000]];
            var fault = await RarRead.FaultOf(async () => await RarVolumeReader.ReadAsync(
                new HeaderWindow(new RarInput(bytes), budget), passwords, RarDepth.Whole, TestContext.Current.CancellationToken));

            Assert.Equal(ArchiveFault.WrongPassword, fault);
            Assert.InRange(budget.Bytes, 1, 1 << 20);
        }
    }

    /// <summary>Returns a first volume with a whole file and the beginning of another.</summary>
    private static byte[] Written(string kind)
    {
        var deriver = new FreeKeyDeriver();
        if (kind.StartsWith("rar4", StringComparison.Ordinal))
        {
            var isEncrypted = kind == "rar4-hp";
            var writer = new Rar4Writer(Rar4Writer.Volume | Rar4Writer.First | (isEncrypted ? Rar4Writer.EncryptedHeaders : 0));
            if (isEncrypted)
                writer.Encrypt(deriver, "secret");
            return writer.File("first.txt", 100, Data.AsSpan(0, 100)).File("film.mkv", 999, Data, Rar4Writer.SplitAfter)
                .End(continues: true, number: 0).ToArray();
        }

        var rar5 = new Rar5Writer();
        if (kind.StartsWith("rar5-hp", StringComparison.Ordinal))
        {
            rar5.Encrypt(deriver, "secret", kind switch
            {
                "rar5-hp-unchecked" => null,
                "rar5-hp-wrong-sum" => Rar5Writer.Check(deriver, "secret", isSound: false),
                _ => Rar5Writer.Check(deriver, "secret"),
            });
        }

        return rar5.Main(number: 0).File("first.txt", 100, Data.AsSpan(0, 100)).File("film.mkv", 999, Data, Rar5Writer.SplitAfter)
            .End(continues: true).ToArray();
    }
}
