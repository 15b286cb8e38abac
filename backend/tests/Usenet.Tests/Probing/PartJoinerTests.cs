using System.Text;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Probing;
using Xunit;

namespace Sluice.Usenet.Tests.Probing;

/// <summary>Joins files that an NZB lists part by part (IMP-17).</summary>
public sealed class PartJoinerTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Parts_with_the_same_name_are_joined_in_order()
    {
        var files = await JoinAsync(
            ("\"a.part1.rar\" yEnc (3/3)", 3), ("\"a.part2.rar\" yEnc (1/2)", 1), ("\"a.part1.rar\" yEnc (1/3)", 1),
            ("\"a.part2.rar\" yEnc (2/2)", 2), ("\"a.part1.rar\" yEnc (2/3)", 2));

        Assert.Equal(["a.part1.rar", "a.part2.rar"], files.Select(file => file.Target.Subject.FileName));
        Assert.Equal([[2, 4, 0], [1, 3]], files.Select(file => file.Members));
        Assert.Equal([300, 200], files.Select(file => file.Target.EncodedBytes));
        Assert.Equal(["id2@x", "id4@x", "id0@x"], await IdsAsync(files[0]));
    }

    [Fact]
    public async Task Unlisted_parts_are_holes()
    {
        var files = await JoinAsync(("\"a.rar\" yEnc (2/4)", 2), ("\"a.rar\" yEnc (3/4)", 3), ("\"b.rar\" yEnc (2/3)", 2));

        Assert.Equal([[-1, 0, 1, -1], [-1, 2, -1]], files.Select(file => file.Members));
        Assert.Equal(["", "id0@x", "id1@x", ""], await IdsAsync(files[0]));
    }

    [Fact]
    public async Task Sparse_file_has_one_hole_per_gap() =>
        Assert.Equal([-1, 0, -1, 1, -1], Assert.Single(await JoinAsync(("\"a.rar\" yEnc (500/20000)", 500), ("\"a.rar\" yEnc (9000/20000)", 9000))).Members);

    [Theory]
    [InlineData("\"a\" yEnc (1/2)", 1, "\"a\" yEnc (1/2)", 1)]
    [InlineData("\"a\" yEnc (1/2)", 1, "\"a\" yEnc (2/3)", 2)]
    [InlineData("\"a\" yEnc (1/2)", 1, "\"a\" yEnc (2/2)", 1)]
    [InlineData("\"a\" yEnc (1/2)", 1, "\"b\" yEnc (1/2)", 1)]
    [InlineData("yEnc (1/2)", 1, "yEnc (2/2)", 2)]
    [InlineData("\"a\" yEnc (1/20001)", 1, "\"a\" yEnc (2/20001)", 2)]
    public async Task Contradicting_parts_are_not_joined(string first, int firstNumber, string second, int secondNumber)
    {
        var files = await JoinAsync((first, firstNumber), (second, secondNumber));

        Assert.Equal([[0], [1]], files.Select(file => file.Members));
        Assert.All(files, file => Assert.Equal(1, file.Target.Ids.Count));
    }

    [Fact]
    public async Task First_part_alone_stays_unchanged() =>
        Assert.Equal([0], Assert.Single(await JoinAsync(("\"a.rar\" yEnc (1/50)", 1))).Members);

    private static async Task<IReadOnlyList<ListedFile>> JoinAsync(params (string Subject, int Number)[] listed)
    {
        var nzb = new StringBuilder("<nzb>");
        for (var i = 0; i < listed.Length; i++)
        {
            var subject = System.Security.SecurityElement.Escape(listed[i].Subject);
            nzb.Append(System.Globalization.CultureInfo.InvariantCulture, $"<file subject=\"{subject}\"><segments><segment bytes=\"100\" number=\"{listed[i].Number}\">id{i}@x</segment></segments></file>");
        }

        var stored = new MemoryStream();
        var writer = new MessageIdListWriter(stored);
        var files = new List<(NzbFile File, int First, int Count)>();
        await foreach (var file in NzbReader.ReadAsync(new MemoryStream(Encoding.UTF8.GetBytes(nzb.Append("</nzb>").ToString())), null, new NzbHead(), Token))
            files.Add((file, await writer.AddAsync(file, Token), file.Segments.Count));
        await writer.CompleteAsync(Token);
        var list = await MessageIdList.OpenAsync(stored, Token);
        return PartJoiner.Join(
            [.. files.Select(file => new ProbeTarget(NzbSubject.Parse(file.File.Subject), list.Slice(file.First, file.Count), 100) { Part = file.File.Part })],
            new ProbeOptions().MaxJoined);
    }

    private static async Task<IReadOnlyList<string>> IdsAsync(ListedFile file)
    {
        var ids = new List<string>();
        for (var segment = 0; segment < file.Target.Ids.Count; segment++)
            ids.Add((await file.Target.Ids.GetAsync(segment, Token)).Primary.ToString());
        return ids;
    }
}
