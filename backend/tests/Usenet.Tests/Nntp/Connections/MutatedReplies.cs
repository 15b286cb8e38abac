using System.Text;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Tests.Streams;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>
/// Replies to a few pipelined commands, with one kind of damage by the server, all derived from one seed. The bodies, and damage inside a
/// body, come from <see cref="MutatedArticle"/>.
/// </summary>
internal sealed class MutatedReplies
{
    // Neighboring seeds have different ways.
    private const int Ways = 30;

    /// <summary>Number of ways that change the replies.</summary>
    public const int Kinds = 25;

    private const string End = "\r\n.\r\n";
    private const int MostCommands = 6;

    private static readonly int[] Codes = [0, 1, 111, 200, 205, 220, 221, 222, 223, 281, 400, 423, 430, 451, 480, 500, 501, 502, 503, 999];

    // Lines that belong to no command; none of them reports a missing article.
    private static readonly string[] Strangers =
    [
        "400 idle for too long", "502 too many connections", "480 log in", "500 what?", "111 20260103100000", "200 hello", "205 bye", "", ".", "..", "222", "2222 0 <0@t>",
        " 222 0 <0@t>", "222\t0 <0@t>", "222 0", "222 0 <", "222 0 <>", "223 0 <stranger@t>", "\0\0\0", "=ybegin line=128 size=5 name=a", "-22 0 <0@t>",
    ];

    private readonly Random _random;
    private readonly List<Reply> _replies = [];

    /// <param name="seed">Determines everything.</param>
    /// <param name="articles">The articles to choose from; neighbors differ in length.</param>
    /// <param name="dotted">The articles with lines that begin with a dot.</param>
    /// <param name="longestLine">Maximum length of a line; a longer one is refused.</param>
    /// <param name="longestBody">Maximum length of a body; a longer one is refused.</param>
    public MutatedReplies(int seed, IReadOnlyList<MutatedArticle> articles, IReadOnlyList<MutatedArticle> dotted, int longestLine, int longestBody)
    {
        _random = new Random(seed);
        var way = (int)((uint)seed % Ways);
        Ask(articles, way is 19 or 20 ? dotted : articles);
        Good = Bytes(_replies.SelectMany(reply => new[] { reply.Line, reply.Body }));
        var ends = Ends();
        Wire = Mutate(way, longestLine, longestBody);

        var same = Good.AsSpan().CommonPrefixLength(Wire);
        for (var i = 0; i < Commands.Count; i++)
        {
            Commands[i].Arrives |= ends[i] <= same;

            // In these ways the bodies stay intact, even if sent for the wrong command.
            Commands[i].IsWholeOrNothing = way is 0 or 13 or >= 27;
        }
    }

    /// <summary>The commands, in the order of the replies.</summary>
    public List<Command> Commands { get; } = [];

    /// <summary>The undamaged replies.</summary>
    public byte[] Good { get; }

    /// <summary>The replies as sent, with the damage.</summary>
    public byte[] Wire { get; }

    /// <summary>Name of the mutation.</summary>
    public string Way { get; private set; } = "";

    /// <summary>Whether the server reports an existing article as missing, in the right order, which no client can detect.</summary>
    public bool Lies { get; private set; }

    /// <summary>Builds one to six commands and their right replies.</summary>
    private void Ask(IReadOnlyList<MutatedArticle> articles, IReadOnlyList<MutatedArticle> first)
    {
        var count = _random.Next(1, MostCommands + 1);
        var body = _random.Next(count);
        for (var i = 0; i < count; i++)
        {
            var kind = i == body ? 0 : _random.Next(8);
            var command = new Command { IsStat = kind == 7, Ids = [.. Enumerable.Range(0, kind == 7 ? _random.Next(1, 4) : 1).Select(each => $"{i}.{each}@t")] };
            if (kind < 5)
                command.Article = Unlike(i == body ? first : articles);
            Commands.Add(command);
            foreach (var id in command.Ids)
            {
                var isMissing = kind is 5 or 6 || (kind == 7 && _random.Next(3) == 0);
                if (isMissing)
                    command.Missing.Add(id);
                var miss = $"{(_random.Next(3) switch { 0 => 423, 1 => 451, _ => 430 })} no such article{(_random.Next(2) == 0 ? $" <{id}>" : "")}\r\n";
                _replies.Add(new Reply(
                    command,
                    isMissing ? miss : $"{(kind == 7 ? 223 : 222)} 0 <{id}>\r\n",
                    command.Article is { } article ? Encoding.Latin1.GetString(article.Good) : ""));
            }
        }
    }

    /// <summary>Picks an article with a length of its own among the commands, so that its bytes cannot pass for those of another.</summary>
    private MutatedArticle Unlike(IReadOnlyList<MutatedArticle> articles)
    {
        for (var at = _random.Next(articles.Count); ; at = (at + 1) % articles.Count)
        {
            if (!Commands.Exists(command => command.Article?.Data.Length == articles[at].Data.Length))
                return articles[at];
        }
    }

    private byte[] Mutate(int way, int longestLine, int longestBody) => way switch
    {
        0 => Same(),
        1 or 2 or 3 => OneArticle(),
        4 or 5 => Raw("bits anywhere", Flip),
        6 => Lines("bits in a line", line => Latin1(Flip(Bytes(line)))),
        7 => Raw("cut out", wire => { var (from, to) = Stretch(wire.Length); return [.. wire[..from], .. wire[to..]]; }),
        8 => Raw("a stretch twice", wire => { var (from, to) = Stretch(wire.Length); return [.. wire[..to], .. wire[from..]]; }, lies: true),
        9 => Raw("noise between", wire => { var at = _random.Next(wire.Length); var noise = new byte[_random.Next(1, 300)]; _random.NextBytes(noise); return [.. wire[..at], .. noise, .. wire[at..]]; }),
        10 => Raw("broken off", wire => wire[.._random.Next(wire.Length)]),
        11 or 12 => AnotherCode(),
        13 => Lines("another id", line => line[..Math.Max(4, line.IndexOf('<', StringComparison.Ordinal))] + Id() + "\r\n"),
        14 => Lines("a line of nobody", line => Strangers[_random.Next(Strangers.Length)] + "\r\n" + line),
        15 => Lines("a line without its end", line => line[..^2] + new string('x', _random.Next(longestLine + 1))),
        16 => Lines("a line too long", line => line[..^2] + new string('x', longestLine) + "\r\n", NntpFault.MalformedReply),
        17 => Bodies("end lost", body => body[..^3]),
        18 => Bodies("end too early", body => { var at = _random.Next(body.Length - 5); return body[..at] + End + body[at..]; }),
        19 => Bodies("dots taken away", body => body.Replace("\r\n..", "\r\n.", StringComparison.Ordinal)),
        20 => Bodies("dots doubled again", body => body[..^5].Replace("\r\n.", "\r\n..", StringComparison.Ordinal) + End),
        21 => Bodies("end twice", body => body + ".\r\n"),
        22 => Bodies("endless", body => string.Concat(Enumerable.Repeat(body[..^5] + "\r\n", (longestBody / body.Length) + 2)), NntpFault.ArticleTooLarge),
        23 => Bodies("headers in front", body => "Subject: a\r\nMessage-ID: <a@b>\r\n\r\n" + body),
        24 => Bodies("no body", _ => _random.Next(2) == 0 ? "" : ".\r\n"),
        25 => MissWithABody(),
        26 => Raw("line ends", LineEnds),
        27 => Moved("left out", () => _replies.RemoveAt(_random.Next(_replies.Count))),
        28 => Moved("in another place", () => { var one = _random.Next(_replies.Count); var other = _random.Next(_replies.Count); (_replies[one], _replies[other]) = (_replies[other], _replies[one]); }),
        _ => Twice(),
    };

    private byte[] Same()
    {
        Way = "as it should be";
        return Good;
    }

    /// <summary>Damages one article and leaves the replies before and after it intact.</summary>
    private byte[] OneArticle()
    {
        Way = "one article";
        var hit = AnyBody();
        foreach (var command in Commands.Where(command => command != hit.Command))
            command.Arrives = true;
        hit.Body = Latin1(hit.Command.Article!.Wire);
        return All();
    }

    private byte[] AnotherCode()
    {
        Way = "another code";
        var at = _random.Next(_replies.Count);
        var code = Codes[_random.Next(Codes.Length)];

        // After the last reply, nothing follows that could reveal that it was no answer.
        Lies = code is 423 or 430 or 451 && (at == _replies.Count - 1 || _replies[at].Body.Length == 0);
        _replies[at].Line = $"{code:000}{_replies[at].Line[3..]}";
        return All();
    }

    private byte[] MissWithABody()
    {
        Way = "a miss with a body";
        var hit = AnyBody();
        Lies = hit == _replies[^1];
        hit.Line = "430 no such article\r\n";
        return All();
    }

    private byte[] Twice()
    {
        Way = "twice";
        var at = _random.Next(_replies.Count);
        Lies = _replies[at].Command.Missing.Count > 0;
        _replies.Insert(at, _replies[at]);
        return All();
    }

    private byte[] Moved(string way, Action move)
    {
        Way = way;
        move();
        return All();
    }

    private byte[] Lines(string way, Func<string, string> change, NntpFault? fault = null)
    {
        Way = way;
        var hit = _replies[_random.Next(_replies.Count)];
        hit.Command.Fault = fault;
        hit.Line = change(hit.Line);
        return All();
    }

    private byte[] Bodies(string way, Func<string, string> change, NntpFault? fault = null)
    {
        Way = way;
        var hit = way.StartsWith("dots", StringComparison.Ordinal) ? _replies.Find(reply => reply.Body.Contains("\r\n..", StringComparison.Ordinal))! : AnyBody();
        hit.Command.Fault = fault;
        hit.Body = change(hit.Body);
        return All();
    }

    private byte[] Raw(string way, Func<byte[], byte[]> change, bool lies = false)
    {
        (Way, Lies) = (way, lies);
        return change((byte[])Good.Clone());
    }

    private Reply AnyBody()
    {
        var bodies = _replies.FindAll(reply => reply.Body.Length > 0);
        return bodies[_random.Next(bodies.Count)];
    }

    private string Id() => _random.Next(5) switch
    {
        0 => $"<{_random.Next(MostCommands)}.0@t>",
        1 => "<" + new string('a', _random.Next(1, 260)) + "@t>",
        2 => "<no end",
        3 => "",
        _ => "<0.0@T>",
    };

    private (int From, int To) Stretch(int length)
    {
        var from = _random.Next(length);
        return (from, from + _random.Next(1, Math.Min(2_000, length - from) + 1));
    }

    private byte[] Flip(byte[] wire)
    {
        for (var flips = _random.Next(1, 9); flips > 0; flips--)
            wire[_random.Next(wire.Length)] ^= (byte)(1 << _random.Next(8));
        return wire;
    }

    private byte[] LineEnds(byte[] wire)
    {
        var text = Latin1(wire);
        return Bytes(_random.Next(4) switch
        {
            0 => text.Replace("\r\n", "\n", StringComparison.Ordinal),
            1 => text.Replace("\r\n", "\r", StringComparison.Ordinal),
            2 => text.Replace("\r\n", "\n\r", StringComparison.Ordinal),
            _ => text.Replace("\r\n", "\r\r\n", StringComparison.Ordinal),
        });
    }

    private byte[] All() => Bytes(_replies.SelectMany(reply => new[] { reply.Line, reply.Body }));

    /// <summary>Returns the end offset of the undamaged replies to each command.</summary>
    private int[] Ends()
    {
        var (ends, at) = (new int[Commands.Count], 0);
        foreach (var reply in _replies)
        {
            at += reply.Line.Length + reply.Body.Length;
            ends[Commands.IndexOf(reply.Command)] = at;
        }

        return ends;
    }

    private static byte[] Bytes(IEnumerable<string> text) => Bytes(string.Concat(text));

    private static byte[] Bytes(string text) => Encoding.Latin1.GetBytes(text);

    private static string Latin1(byte[] bytes) => Encoding.Latin1.GetString(bytes);

    /// <summary>A BODY command, or a batch of STAT commands.</summary>
    internal sealed class Command
    {
        /// <summary>The requested ids; a single one for BODY.</summary>
        public required string[] Ids { get; init; }

        /// <summary>The article of the body; null for a missing article and for STAT.</summary>
        public MutatedArticle? Article { get; set; }

        /// <summary>The ids that the server does not have.</summary>
        public HashSet<string> Missing { get; } = [];

        /// <summary>Whether this is a batch of STAT commands.</summary>
        public required bool IsStat { get; init; }

        /// <summary>Whether its reply arrives intact, because the damage follows it or is inside another reply.</summary>
        public bool Arrives { get; set; }

        /// <summary>Whether it must get its whole article or nothing.</summary>
        public bool IsWholeOrNothing { get; set; }

        /// <summary>The fault that must end it; null if that depends.</summary>
        public NntpFault? Fault { get; set; }
    }

    private sealed class Reply(Command command, string line, string body)
    {
        public Command Command => command;

        public string Line { get; set; } = line;

        public string Body { get; set; } = body;
    }
}
