using System.Globalization;
using System.Text;
using Sluice.Server.Tests.Layers;
using Xunit;

namespace Sluice.Server.Tests;

/// <summary>Every check of <see cref="LayerTests"/> detects a violation.</summary>
public sealed class LayerCheckTests
{
    private const string MessageId = "namespace Sluice.Usenet.Nzb; public sealed record MessageId; public sealed class NzbFile { }";
    private const string Pool = "namespace Sluice.Usenet.Nntp; public interface IArticleSource { } public sealed class ProviderPool { }";
    private const string Queue = "namespace Sluice.Server.Queue; internal sealed class QueueItem { }";

    [Theory]
    [InlineData("using Sluice.Usenet.Nntp;\nnamespace Sluice.Usenet.Nzb;")]
    [InlineData("using static Sluice.Usenet.Nntp.ProviderPool;\nnamespace Sluice.Usenet.Nzb;")]
    [InlineData("using Pool = Sluice.Usenet.Nntp.ProviderPool;\nnamespace Sluice.Usenet.Nzb;")]
    [InlineData("namespace Sluice.Usenet.Nzb; class A { global::Sluice.Usenet.Nntp.ProviderPool? _pool; }")]
    [InlineData("namespace Sluice.Usenet.Nzb; class A { Usenet.Nntp.ProviderPool? _pool; }")]
    [InlineData("namespace Sluice.Usenet.Nzb; class A { Nntp.ProviderPool? _pool; }")]
    [InlineData("namespace Sluice.Usenet.Nzb; class A { string B => $\"{typeof(Nntp.ProviderPool)}\"; }")]
    public void Imports_against_the_order_are_found_in_any_syntax(string text) =>
        Assert.Contains("uses Nntp, which stands to the right of Nzb", Violation(
            ("backend/src/Usenet/Nzb/A.cs", text), ("backend/src/Usenet/Nntp/ProviderPool.cs", Pool)), StringComparison.Ordinal);

    [Theory]
    [InlineData("using Sluice.Usenet.Streams.Memory;\nnamespace Sluice.Usenet.Streams.Maps;")]
    [InlineData("namespace Sluice.Usenet.Streams.Maps; class A { Streams.Memory.BlockPool? _pool; }")]
    [InlineData("namespace Sluice.Usenet.Streams.Maps; class A { Memory.BlockPool? _pool; }")]
    public void Imports_against_the_order_between_folders_are_found(string text) =>
        Assert.Contains("uses Streams/Memory, which stands to the right of Streams/Maps", Violation(
            ("backend/src/Usenet/Streams/Maps/A.cs", text),
            ("backend/src/Usenet/Streams/Memory/BlockPool.cs", "namespace Sluice.Usenet.Streams.Memory; public sealed class BlockPool { }")), StringComparison.Ordinal);

    [Theory]
    [InlineData("StreamOptions? _options;", "", 0)]
    [InlineData("", "Maps.SegmentMap? _map;", 1)]
    public void Subfolder_may_use_its_parent_but_not_the_reverse(string inRoom, string inFolder, int found) =>
        Assert.Equal(found, Violations(
            ("backend/src/Usenet/Streams/Maps/SegmentMap.cs", $"namespace Sluice.Usenet.Streams.Maps; class SegmentMap {{ {inRoom} }}"),
            ("backend/src/Usenet/Streams/StreamOptions.cs", $"namespace Sluice.Usenet.Streams; class StreamOptions {{ {inFolder} }}"))
            .Count(violation => violation.Contains("uses Streams/Maps, which stands to the right of Streams", StringComparison.Ordinal)));

    [Theory]
    [InlineData("namespace Sluice.Usenet.Nzb; // Sluice.Usenet.Nntp.ProviderPool")]
    [InlineData("namespace Sluice.Usenet.Nzb; /* using Sluice.Usenet.Nntp; */ class A { }")]
    [InlineData("namespace Sluice.Usenet.Nzb; class A { string B => \"Sluice.Usenet.Nntp.ProviderPool\"; }")]
    [InlineData("namespace Sluice.Usenet.Nzb; class A { string B => \"\"\"a \" Sluice.Usenet.Nntp.ProviderPool\"\"\"; }")]
    [InlineData("namespace Sluice.Usenet.Nzb; class A { string B => @\"a\"\" Sluice.Usenet.Nntp\"; char C => '\"'; }")]
    [InlineData("namespace Sluice.Usenet.Nzb; class A { int B => Nntp.Count; }")]
    public void Comments_strings_and_properties_are_not_imports(string text) =>
        Assert.Empty(Violations(("backend/src/Usenet/Nzb/A.cs", text), ("backend/src/Usenet/Nntp/ProviderPool.cs", Pool)));

    [Fact]
    public void Mutual_use_is_found()
    {
        var violations = Violations(
            ("backend/src/Server/Queue/A.cs", "using Sluice.Server.History;\nnamespace Sluice.Server.Queue;"),
            ("backend/src/Server/History/B.cs", "using Sluice.Server.Queue;\nnamespace Sluice.Server.History;"));
        Assert.Contains(violations, v => v.StartsWith("History and Queue use each other", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("backend/src/Usenet/Nntp/A.cs", "using Sluice.Usenet.Nzb;\nnamespace Sluice.Usenet.Nntp; class A { NzbFile? _file; }", "names NzbFile; of Nzb Nntp sees only MessageId")]
    [InlineData("backend/src/Usenet/Streams/A.cs", "using Sluice.Usenet.Nntp;\nnamespace Sluice.Usenet.Streams; class A { ProviderPool? _pool; }", "names ProviderPool; of Nntp Streams sees only")]
    [InlineData("backend/src/Usenet/Streams/A.cs", "namespace Sluice.Usenet.Streams; class A { Nntp.ProviderPool? _pool; }", "names ProviderPool; of Nntp Streams sees only")]
    [InlineData("backend/src/Usenet/Yenc/A.cs", "using Sluice.Usenet.Nzb;\nnamespace Sluice.Usenet.Yenc;", "Yenc may use no folder")]
    [InlineData("backend/src/Usenet/Media/A.cs", "using Sluice.Usenet.Streams;\nnamespace Sluice.Usenet.Media;", "Media may use no folder")]
    [InlineData("backend/src/Server/WebDav/A.cs", "using Sluice.Usenet.Streams;\nnamespace Sluice.Server.WebDav;", "WebDav may use only Primitives")]
    [InlineData("backend/src/Server/WebDav/A.cs", "using Sluice.Server.Queue;\nnamespace Sluice.Server.WebDav;", "WebDav may use only Primitives")]
    [InlineData("backend/src/Server/WebDav/Tree/A.cs", "using Sluice.Server.Database;\nnamespace Sluice.Server.WebDav.Tree;", "WebDav/Tree may use only")]
    [InlineData("backend/src/Server/SabApi/A.cs", "using Sluice.Server.WebDav;\nnamespace Sluice.Server.SabApi;", "uses WebDav, which only")]
    [InlineData("backend/src/Server/AdminApi/A.cs", "using Sluice.Server.SabApi;\nnamespace Sluice.Server.AdminApi;", "uses SabApi, which only Program")]
    [InlineData("backend/src/Server/AdminApi/A.cs", "using Sluice.Server.WebDav.Tree;\nnamespace Sluice.Server.AdminApi;", "uses WebDav/Tree, which only Program")]
    [InlineData("backend/src/Usenet/Archives/A.cs", "using Sluice.Server.Queue;\nnamespace Sluice.Usenet.Archives;", "to the right of Archives")]
    [InlineData("backend/src/Server/Library/A.cs", "using Sluice.Tools.MockNntpServer;\nnamespace Sluice.Server.Library;", "to the right of Library")]
    [InlineData("backend/src/Server/Library/A.cs", "using Sluice.Testing;\nnamespace Sluice.Server.Library;", "Sluice.Testing, which is in no folder")]
    [InlineData("backend/src/Server/Library/A.cs", "using Sluice.Server;\nnamespace Sluice.Server.Library;", "uses Program, which stands to the right")]
    [InlineData("tools/MockNntpServer/A.cs", "using Sluice.Usenet.Yenc;\nnamespace Sluice.Tools.MockNntpServer;", "MockNntpServer may use no folder")]
    [InlineData("tools/FullNzbTester/A.cs", "using Sluice.Server.Queue;\nnamespace Sluice.Tools.FullNzbTester;", "FullNzbTester may use only")]
    [InlineData("tools/A.cs", "using Sluice.Usenet.Yenc;", "is a program of one file and uses a project")]
    [InlineData("tools/A.cs", "#:project ../backend/src/Usenet", "is a program of one file and uses a project")]
    [InlineData("backend/src/Server/Misc/A.cs", "namespace Sluice.Server.Misc;", "stands in no folder of the import table")]
    [InlineData("backend/src/Server/Queue/A.cs", "namespace Sluice.Server.History;", "its folder is Sluice.Server.Queue")]
    [InlineData("backend/src/Usenet/Streams/A.cs", "using Sluice.Usenet.Nntp.Wire;\nnamespace Sluice.Usenet.Streams;", "uses Nntp/Wire, which only Nntp/Health, Nntp/Connections, Nntp/Fetching may use")]
    [InlineData("backend/src/Usenet/Nntp/Health/A.cs", "using Sluice.Usenet.Nntp.Connections;\nnamespace Sluice.Usenet.Nntp.Health;", "uses Nntp/Connections, which stands to the right of Nntp/Health")]
    [InlineData("backend/src/Usenet/Nntp/A.cs", "using Sluice.Usenet.Nntp.Fetching;\nnamespace Sluice.Usenet.Nntp;", "uses Nntp/Fetching, which stands to the right of Nntp")]
    [InlineData("backend/src/Usenet/Streams/Other/A.cs", "namespace Sluice.Usenet.Streams.Other;", "stands in no folder of the import table")]
    [InlineData("backend/src/Usenet/Streams/A.cs", "namespace Sluice.Usenet.Streams.Maps;", "its folder is Sluice.Usenet.Streams")]
    public void Forbidden_uses_are_found(string path, string text, string sentence)
    {
        var violations = Violations((path, text), ("backend/src/Usenet/Nzb/MessageId.cs", MessageId),
            ("backend/src/Usenet/Nntp/ProviderPool.cs", Pool), ("backend/src/Server/Queue/QueueItem.cs", Queue));
        Assert.Contains(violations, v => v.Contains(sentence, StringComparison.Ordinal));
    }

    [Fact]
    public void Use_of_a_root_type_is_found_without_qualification() =>
        Assert.Contains("uses Program, which stands to the right of Queue", Violation(
            ("backend/src/Server/ExitCode.cs", "namespace Sluice.Server; internal enum ExitCode { Good }"),
            ("backend/src/Server/Queue/A.cs", "namespace Sluice.Server.Queue; class A { ExitCode _code; }")), StringComparison.Ordinal);

    [Theory]
    [InlineData("backend/src/Usenet/Nntp/A.cs", "using Sluice.Usenet.Nzb;\nnamespace Sluice.Usenet.Nntp; class A { MessageId? _id; }")]
    [InlineData("backend/src/Usenet/Streams/A.cs", "using Sluice.Usenet.Nntp;\nnamespace Sluice.Usenet.Streams; class A { IArticleSource? _source; }")]
    [InlineData("backend/src/Usenet/Streams/A.cs", "using Sluice.Usenet.Nntp;\nnamespace Sluice.Usenet.Streams; class A { object B(object c) => c.ProviderPool; }")]
    [InlineData("backend/src/Server/WebDav/Tree/A.cs", "using Sluice.Server.Queue;\nnamespace Sluice.Server.WebDav.Tree;")]
    [InlineData("backend/src/Server/Program.cs", "using Sluice.Server.SabApi;\nusing Sluice.Server.WebDav;")]
    [InlineData("tools/A.cs", "using System.Text;")]
    [InlineData("tools/FullNzbTester/A.cs", "using Sluice.Usenet.Nntp;\nusing Sluice.Tools.MockNntpServer;\nnamespace Sluice.Tools.FullNzbTester;")]
    public void Allowed_uses_pass(string path, string text) =>
        Assert.Empty(Violations((path, text), ("backend/src/Usenet/Nzb/MessageId.cs", MessageId),
            ("backend/src/Usenet/Nntp/ProviderPool.cs", Pool), ("backend/src/Server/Queue/QueueItem.cs", Queue)));

    [Fact]
    public void Long_files_and_stale_exceptions_are_found()
    {
        var longFile = new SourceFile("a.cs", string.Concat(Enumerable.Repeat("\n", FileLengths.Most + 1)));
        var shortFile = new SourceFile("b.cs", "\n");
        Assert.Empty(FileLengths.Violations([longFile, shortFile], new Dictionary<string, string> { ["a.cs"] = "a table" }));
        Assert.Single(FileLengths.Violations([longFile, shortFile], new Dictionary<string, string>()));
        Assert.Single(FileLengths.Violations([longFile], new Dictionary<string, string> { ["a.cs"] = " " }));
        Assert.Single(FileLengths.Violations([shortFile], new Dictionary<string, string> { ["b.cs"] = "was long" }));
        Assert.Single(FileLengths.Violations([shortFile], new Dictionary<string, string> { ["gone.cs"] = "was long" }));
    }

    [Theory]
    [InlineData("a/A.cs", "class A { }", "class B { A? _a; }", "class C { }", 1)]
    [InlineData("a/A.cs", "static class A { public static void Add(this string a) { } }", "class B { void C() => \"\".Add(); }", "class C { }", 1)]
    [InlineData("a/A.cs", "class A { }", "class B { A? _a; }", "class C { A? _a; }", 0)]
    [InlineData("a/A.cs", "class A { }", "class B { } // A", "class C { }", 0)]
    [InlineData("a/AOptions.cs", "class A { }", "class B { A? _a; }", "class C { }", 0)]
    [InlineData("b/A.cs", "class A { }", "class B { A? _a; }", "class C { }", 0)]
    public void Small_files_used_by_one_other_file_are_found(string path, string text, string one, string other, int found) =>
        Assert.Equal(found, SmallFiles.Violations(
            [new SourceFile(path, text), new SourceFile("b/B.cs", one), new SourceFile("b/C.cs", other)], "a/").Count);

    [Theory]
    [InlineData(SmallFiles.Most, 1)]
    [InlineData(SmallFiles.Most + 1, 0)]
    public void File_counts_as_small_up_to_the_line_limit(int lines, int found) =>
        Assert.Equal(found, SmallFiles.Violations(
            [
                new SourceFile("a/A.cs", "class A { }" + new string('\n', lines)),
                new SourceFile("a/B.cs", "class B { A? _a; }" + new string('\n', lines)),
                new SourceFile("a/BRegistration.cs", "class C { A? _a; B? _b; }"),
            ],
            "a/").Count);

    [Theory]
    [InlineData(MethodSizes.MostLines, 0, 0)]
    [InlineData(MethodSizes.MostLines + 1, 0, 1)]
    [InlineData(MethodSizes.MostLines, MethodSizes.MostBranches, 0)]
    [InlineData(MethodSizes.MostLines, MethodSizes.MostBranches + 1, 1)]
    public void Methods_with_too_many_lines_or_branches_are_found(int lines, int branches, int found)
    {
        var body = string.Concat(Enumerable.Repeat(" && a", branches)) + new string('\n', lines - 1);
        foreach (var method in new[] { $"void C<T>() where T : class {{{body}}}", $"public C(int d = 1) : this(d) {{{body}}}", $"int C(int d) => d{body};", $"int C(int d) => d switch {{ {body} }};" })
            Assert.Equal(found, MethodSizes.Violations([new SourceFile("a.cs", $"namespace N;\nclass A(int a) : B(a)\n{{\n    int _a = D(1);\n    int E {{ get; }} = 1;\n    {method}\n    void F() {{ }}\n}}\nrecord G(int H);")]).Count);
        Assert.Empty(MethodSizes.Violations([new SourceFile("a.cs", $"class A {{ int[] _c = D(() => {{{body}}}); int E {{ get {{{body}}} }} }}")]));
    }

    [Theory]
    [InlineData("/// <summary>Guarded by the lock of the pool.</summary>\nclass A { int _a; }", 1)]
    [InlineData("class A { Lock _gate; class B { int _a; } /* guarded by the lock of A */ }", 0)]
    [InlineData("class A { Lock _gate; class B { int _a; } // Guarded by the lock of A.\n }", 0)]
    public void Fields_guarded_by_a_lock_in_another_file_are_found(string text, int found) =>
        Assert.Equal(found, HouseRules.GuardedElsewhere([new SourceFile("a.cs", text)]).Count);

    [Theory]
    [InlineData("// TO" + "DO: the rest")]
    [InlineData("var a = 1; // FIX" + "ME")]
    [InlineData("/* HA" + "CK */")]
    public void Unfinished_work_notes_are_found(string text) =>
        Assert.Single(HouseRules.Notes([new SourceFile("a.cs", text)]));

    [Theory]
    [InlineData("using System;\nusing System.IO;\nusing Sluice.A;\nusing Xunit;\nusing static System.Math;\nusing A = System.IO.Path;\n", 0)]
    [InlineData("using System.IO;\nusing System;\n", 1)]
    [InlineData("using Sluice.A;\nusing System;\n", 1)]
    [InlineData("using Sluice.A.B;\nusing Sluice.A;\n", 1)]
    [InlineData("using static System.Math;\nusing Xunit;\n", 1)]
    [InlineData("using A = System.IO.Path;\nusing static System.Math;\n", 1)]
    [InlineData("namespace B;\nclass A { void M() { using var b = C(); using var a = B(); } }\n", 0)]
    public void Unsorted_imports_are_found(string text, int found) =>
        Assert.Equal(found, SourceForm.UnsortedImports([new SourceFile("a.cs", text)]).Count);

    [Theory]
    [InlineData("class A;\n", 0)]
    [InlineData("\uFEFFclass A;\n", 1)]
    [InlineData("class A;\r\n", 1)]
    [InlineData("class A;", 1)]
    [InlineData("class A;\n\n", 1)]
    public void Wrong_encodings_and_line_endings_are_found(string text, int found) =>
        Assert.Equal(found, SourceForm.Violations("a.cs", Encoding.UTF8.GetBytes(text)).Count);

    [Theory]
    [InlineData("// What it has is what they are told, and of those that of it.", 1)]
    [InlineData("/// <summary>Whether those who wait are the ones that have what is theirs.</summary>", 1)]
    [InlineData("var a = 1; // where it is that of the one that was there", 1)]
    [InlineData("// The second caller waits until the pool has a connection.", 0)]
    [InlineData("const string Text = \"what it has, that of those who are\";", 0)]
    public void Folders_with_too_many_nounless_clauses_are_found(string line, int found)
    {
        var text = string.Concat(Enumerable.Repeat($"{line}\nvar b = 2;\n", 60));
        Assert.Equal(found, CommentVoice.Violations([new SourceFile("backend/src/Server/Queue/a.cs", text)]).Count);
    }

    [Theory]
    [InlineData("    [Fact]\n    public void A{0}() {{ }}", 60, 1)]
    [InlineData("    [Theory(Timeout = 5)]\n    [InlineData(1)]\n    // Why.\n    public async Task A{0}(int a) {{ }}", 60, 1)]
    [InlineData("    [Fact]\n    public void A{0}() {{ }}", 59, 0)]
    [InlineData("    public void A{0}() {{ }}", 60, 0)]
    public void Long_test_names_are_found(string text, int more, int found) => Assert.Equal(
        found, HouseRules.LongTestNames([new SourceFile("a.cs", string.Format(CultureInfo.InvariantCulture, text, new string('b', more)))]).Count);

    [Theory]
    [InlineData("#pragma warning disable CA1000", 1)]
    [InlineData("var a = 1;\n#pragma warning disable CA1000", 1)]
    [InlineData("#pragma warning disable CA1000 // The parser owns it.", 0)]
    [InlineData("// The parser owns it.\n#pragma warning disable CA1000", 0)]
    [InlineData("[SuppressMessage(\"Design\", \"CA1000\")]", 1)]
    [InlineData("[SuppressMessage(\"Design\", \"CA1000\", Justification = \"The parser owns it.\")]", 0)]
    public void Silenced_warnings_without_a_reason_are_found(string text, int found) =>
        Assert.Equal(found, HouseRules.SilencedWarnings([new SourceFile("a.cs", text)]).Count);

    [Theory]
    [InlineData("backend/src/Server/Queue/A.cs", "var a = time.GetUtcNow();", 1)]
    [InlineData("backend/src/Usenet/Nntp/A.cs", "Func<DateTimeOffset> a = time.GetUtcNow;", 1)]
    [InlineData("backend/src/Usenet/Primitives/WallClock.cs", "var a = time.GetUtcNow();", 0)]
    [InlineData("backend/src/Server/Queue/A.cs", "// GetUtcNow\nvar a = time.GetTimestamp();", 0)]
    [InlineData("tools/A/A.cs", "var a = time.GetUtcNow();", 0)]
    public void Use_of_GetUtcNow_outside_WallClock_is_found(string path, string text, int found) =>
        Assert.Equal(found, HouseRules.Uses([new SourceFile(path, text)], HouseRules.TimeOfDay(), "backend/src/Usenet/Primitives/WallClock.cs").Count);

    [Theory]
    [InlineData("var a = name.Normalize();", 1)]
    [InlineData("var a = name\n    .Normalize(NormalizationForm.FormC);", 1)]
    [InlineData("var a = name.IsNormalized();", 1)]
    [InlineData("var a = Normalize(name);", 0)]
    public void Unicode_normalization_outside_NfcName_is_found(string text, int found) =>
        Assert.Equal(found, HouseRules.Uses([new SourceFile("backend/src/Server/Queue/A.cs", text)], HouseRules.UnicodeForm(), "backend/src/Usenet/Primitives/NfcName.cs").Count);

    [Theory]
    [InlineData("backend/src/Server/Queue/A.cs", "using Microsoft.Data.Sqlite;", 1)]
    [InlineData("backend/src/Server/Queue/A.cs", "static int Count(SqliteConnection connection) => 0;", 1)]
    [InlineData("backend/src/Server/Queue/A.cs", "connection.Execute(\"PRAGMA user_version = 1\");", 1)]
    [InlineData("backend/src/Server/Queue/A.cs", "static int Count(DbConnection connection) => 0;", 0)]
    [InlineData("backend/src/Server/Database/A.cs", "using Microsoft.Data.Sqlite;", 0)]
    [InlineData("backend/src/Server/Database.cs", "using Microsoft.Data.Sqlite;", 1)]
    public void Use_of_SQLite_outside_the_Database_folder_is_found(string path, string text, int found) =>
        Assert.Equal(found, HouseRules.Uses([new SourceFile(path, text)], HouseRules.Engine(), "backend/src/Server/Database/", inStrings: true).Count);

    [Theory]
    [InlineData("JsonSerializer.Serialize(a);", 1)]
    [InlineData("JsonSerializer.Deserialize<List<A>>(text) ?? [];", 1)]
    [InlineData("JsonSerializer.SerializeToUtf8Bytes([a], AJson.Default.StringArray);", 0)]
    [InlineData("JsonSerializer.Serialize(a); b = AJson.Default.B;", 1)]
    public void Reflection_based_JSON_is_found(string text, int found) =>
        Assert.Equal(found, HouseRules.Uses([new SourceFile("backend/src/Server/Queue/A.cs", text)], HouseRules.ReflectedJson(), "").Count);

    [Theory]
    [InlineData("var row = new DynamicParameters(item);", 1)]
    [InlineData("connection.Query(sql);", 1)]
    [InlineData("connection.Query<(string Id, long Place)>(sql);", 1)]
    [InlineData("private sealed record ItemRow(string Id);", 1)]
    [InlineData("connection.Query<ItemRow>(sql, new { id }); internal sealed record ItemRow(string Id);", 0)]
    public void Reflection_based_database_rows_are_found(string text, int found) =>
        Assert.Equal(found, HouseRules.Uses([new SourceFile("backend/src/Server/Queue/A.cs", text)], HouseRules.ReflectedRows(), "").Count);

    [Fact]
    public void Dapper_calls_missed_by_the_generator_are_found() =>
        Assert.Superset(new HashSet<string> { "Execute", "Query" }, ReflectedCalls.In(typeof(LayerCheckTests).Assembly).ToHashSet());

    [Theory]
    [InlineData("connection.Execute(sql, all.Select(ItemRow.Of)); record ItemRow(byte[] Hash);", 1)]
    [InlineData("connection.Execute(sql, all.Select(a => new ItemRow { Hash = a })); record ItemRow { public byte[]? Hash { get; init; } }", 1)]
    [InlineData("connection.Execute(sql, all.Select(ItemRow.Of)); record ItemRow(string Id); record OtherRow(byte[] Hash);", 0)]
    [InlineData("foreach (var a in all) connection.Execute(sql, ItemRow.Of(a)); record ItemRow(byte[] Hash);", 0)]
    public void Multi_row_calls_with_byte_arrays_are_found(string text, int found) =>
        Assert.Equal(found, HouseRules.RowsOfBytes([new SourceFile("backend/src/Server/Queue/A.cs", text)]).Count);

    [Theory]
    [InlineData("```\nUsenet   Nzb → Nntp\nServer   Database → Program\n```", 0)]
    [InlineData("```sh\n./run.sh\n```\n```\nUsenet   Nzb → Nntp\nServer   Database → Program\n```", 0)]
    [InlineData("```\nUsenet   Nntp → Nzb\nServer   Database → Program\n```", 1)]
    [InlineData("```\nUsenet   Nzb\nServer   Database → Program\n```", 1)]
    [InlineData("```\nUsenet   Nzb → Nntp → Yenc\nServer   Database → Program\n```", 1)]
    [InlineData("no diagram", 2)]
    public void Outdated_layer_diagram_is_found(string page, int found)
    {
        var existing = new HashSet<string> { "Nzb", "Nntp", "Database", Layer.Root };
        Assert.Equal(found, LayerDiagram.Violations(LayerOrder.All, existing, page).Count);
    }

    [Theory]
    [InlineData("`QueueItem` and `Server/Queue`", 0)]
    [InlineData("`QueueThing` and `Server/Queue`", 1)]
    [InlineData("`QueueItem` and `Server/Nowhere/`", 1)]
    [InlineData("| RAR5 | + `Usenet/Archives/`: a reader; + a step in `Server/Queue/Steps/`; `QueueItem` |", 0)]
    public void Unknown_names_on_the_architecture_page_are_found(string page, int found) =>
        Assert.Equal(found, ArchitecturePage.Unknown(page, new HashSet<string> { "QueueItem" }, path => path == "Server/Queue").Count);

    private static string Violation(params (string Path, string Text)[] files) => Assert.Single(Violations(files));

    private static IReadOnlyList<string> Violations(params (string Path, string Text)[] files) =>
        ImportCheck.Violations(LayerOrder.All, [.. files.Select(file => new SourceFile(file.Path, file.Text))]);
}
