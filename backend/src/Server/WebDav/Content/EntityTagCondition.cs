using Microsoft.Extensions.Primitives;

namespace Sluice.Server.WebDav.Content;

/// <summary>
/// The value of If-Match or If-None-Match (RFC 9110, section 13.1): <c>"*" / #entity-tag</c>. A malformed tag matches nothing, so If-Match fails and
/// If-None-Match succeeds.
/// </summary>
internal sealed class EntityTagCondition
{
    private readonly List<EntityTag> _tags = [];

    private EntityTagCondition()
    {
    }

    /// <summary>Whether the value is <c>*</c>, which matches any existing content.</summary>
    public bool IsAny { get; private set; }

    /// <summary>Parses the header; null if absent.</summary>
    public static EntityTagCondition? Parse(StringValues header)
    {
        if (header.Count == 0)
            return null;

        var condition = new EntityTagCondition();
        foreach (var line in header)
            condition.Add(line);
        return condition;
    }

    /// <summary>Compares strongly. <paramref name="current"/> is null if no content exists.</summary>
    public bool MatchesStrongly(EntityTag? current) =>
        current is { } tag && (IsAny || _tags.Exists(tag.StrongEquals));

    /// <summary>Compares weakly. <paramref name="current"/> is null if no content exists.</summary>
    public bool MatchesWeakly(EntityTag? current) =>
        current is { } tag && (IsAny || _tags.Exists(tag.WeakEquals));

    private void Add(ReadOnlySpan<char> line)
    {
        line = line.Trim();
        if (line is "*")
        {
            IsAny = true;
            return;
        }

        while (!line.IsEmpty)
        {
            if (EntityTag.TryRead(ref line, out var tag))
                _tags.Add(tag);
            var comma = line.IndexOf(',');
            line = comma < 0 ? [] : line[(comma + 1)..].TrimStart();
        }
    }
}
