using System.Diagnostics.CodeAnalysis;

namespace Sluice.Server.WebDav.Locks;

/// <summary>
/// The grammar of <c>If</c> (RFC 4918, section 10.4.2):
/// <c>If = ( 1*List | 1*( Resource-Tag 1*List ) )</c>, <c>List = "(" 1*Condition ")"</c>,
/// <c>Condition = ["Not"] ( "&lt;" token "&gt;" | "[" entity-tag "]" )</c>, with white space anywhere between.
/// </summary>
internal ref struct IfHeaderReader
{
    /// <summary>Maximum lists in a header, because each may require a lookup. Clients send one or two.</summary>
    public const int MaxLists = 64;

    private readonly List<IfList> _lists = [];
    private ReadOnlySpan<char> _rest;

    private IfHeaderReader(ReadOnlySpan<char> text) => _rest = text.Trim(" \t");

    /// <summary>Parses the whole header; false if its syntax is invalid or it has too many lists.</summary>
    public static bool TryRead(ReadOnlySpan<char> text, [NotNullWhen(true)] out List<IfList>? lists)
    {
        var reader = new IfHeaderReader(text);
        lists = reader.TryReadLists() ? reader._lists : null;
        return lists is not null;
    }

    private bool TryReadLists()
    {
        if (_rest.IsEmpty)
            return false;
        var isTagged = _rest[0] == '<';
        while (!_rest.IsEmpty)
        {
            string? resource = null;
            if (isTagged && !TryReadReference(out resource))
                return false;
            do
            {
                if (_lists.Count == MaxLists || !TryReadList(resource))
                    return false;
            }
            while (!_rest.IsEmpty && _rest[0] == '(');
        }

        return true;
    }

    private bool TryReadList(string? resource)
    {
        if (!Take('('))
            return false;
        var conditions = new List<IfCondition>();
        while (!Take(')'))
        {
            if (!TryReadCondition(out var condition))
                return false;
            conditions.Add(condition);
        }

        _lists.Add(new IfList(resource, conditions));
        return conditions.Count > 0;
    }

    private bool TryReadCondition(out IfCondition condition)
    {
        condition = default;
        var negated = _rest.StartsWith("Not", StringComparison.OrdinalIgnoreCase);
        if (negated)
            Skip(3);
        if (_rest.IsEmpty)
            return false;
        if (_rest[0] == '<')
        {
            // A state token is an absolute URI, so it has a scheme.
            if (!TryReadReference(out var token) || token.IndexOf(':', StringComparison.Ordinal) <= 0)
                return false;
            condition = new IfCondition(negated, token, null);
            return true;
        }

        if (!Take('[') || !EntityTag.TryRead(ref _rest, out var tag))
            return false;
        Skip(0);
        condition = new IfCondition(negated, null, tag);
        return Take(']');
    }

    private bool TryReadReference([NotNullWhen(true)] out string? reference)
    {
        reference = null;
        var end = _rest.IndexOf('>');
        if (_rest.IsEmpty || _rest[0] != '<' || end < 2)
            return false;
        var inner = _rest[1..end];
        if (inner.ContainsAny(" \t<\"") || inner.ContainsAnyInRange('\0', '\x1F'))
            return false;
        reference = inner.ToString();
        Skip(end + 1);
        return true;
    }

    private bool Take(char expected)
    {
        if (_rest.IsEmpty || _rest[0] != expected)
            return false;
        Skip(1);
        return true;
    }

    private void Skip(int count) => _rest = _rest[count..].TrimStart(" \t");
}
