using Sluice.Server.Library;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Server.Tests.Library;

public sealed class ContentTagTests
{
    [Fact]
    public void Tag_is_stable_across_machines_and_processes() =>
        Assert.Equal("fd75166193dd3d667b95a3bb3fe8ce8e", ContentTag.Of([ContentTag.HashIds([Ids("a@x"), Ids("b@x")])], "", 1000));

    [Fact]
    public void Tag_depends_on_ids_their_order_entry_and_length()
    {
        var hash = ContentTag.HashIds([Ids("a@x"), Ids("b@x")]);
        string[] tags =
        [
            ContentTag.Of([hash], "", 1000),
            ContentTag.Of([hash], "", 1001),
            ContentTag.Of([hash], "a.mkv", 1000),
            ContentTag.Of([hash, hash], "", 1000),
            ContentTag.Of([ContentTag.HashIds([Ids("b@x"), Ids("a@x")])], "", 1000),
            ContentTag.Of([ContentTag.HashIds([Ids("a@x", "b@x")])], "", 1000),
            ContentTag.Of([ContentTag.HashIds([Ids("a@x"), SegmentIds.None, Ids("b@x")])], "", 1000),
        ];

        Assert.Equal(tags.Length, tags.Distinct().Count());
    }

    [Fact]
    public void Order_of_two_copies_does_not_change_the_tag() =>
        Assert.Equal(ContentTag.HashIds([Ids("a@x", "b@x")]), ContentTag.HashIds([Ids("b@x", "a@x")]));

    private static SegmentIds Ids(string primary, params string[] fallbacks) =>
        new(MessageId.Parse(primary), [.. fallbacks.Select(MessageId.Parse)]);
}
