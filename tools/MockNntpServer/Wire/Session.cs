using System.Globalization;
using System.Text;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;

namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>The protocol of one connection (RFC 3977, RFC 4643): maps each command to its response.</summary>
internal sealed class Session(ProviderState provider, int connection, Func<bool> tryAdmit)
{
    private const int GroupArticles = 1_000_000;

    private string? _user;
    private bool _loggedIn;
    private bool _hasGroup;
    private bool _forgetsLogin;

    /// <summary>Whether a verb is supported.</summary>
    public static bool IsKnown(string verb) => verb is "CAPABILITIES" or "MODE" or "AUTHINFO USER" or "AUTHINFO PASS" or "GROUP"
        or "STAT" or "HEAD" or "BODY" or "ARTICLE" or "DATE" or "HELP" or "QUIT";

    public bool IsLoggedIn => _loggedIn;

    public Answer Answer(Command command)
    {
        if (_forgetsLogin && !command.Verb.StartsWith("AUTHINFO", StringComparison.Ordinal))
        {
            _forgetsLogin = _loggedIn = false;
            return Wire.Answer.Line("480 Authentication required");
        }

        return command.Verb switch
        {
            "QUIT" => WithFault(command, null, () => Wire.Answer.Line("205 Bye", AnswerEnd.Close)),
            "AUTHINFO USER" or "AUTHINFO PASS" => LogIn(command),
            "CAPABILITIES" => Wire.Answer.Line("101 Capabilities\r\nVERSION 2\r\nREADER\r\nAUTHINFO USER\r\n."),
            "MODE" => Wire.Answer.Line(command.Argument.Equals("READER", StringComparison.OrdinalIgnoreCase) ? "200 Posting prohibited" : "501 Unknown mode"),
            "HELP" => Wire.Answer.Line("100 Help\r\nCAPABILITIES MODE AUTHINFO GROUP STAT HEAD BODY ARTICLE DATE HELP QUIT\r\n."),
            _ when !IsKnown(command.Verb) => Wire.Answer.Line("500 Unknown command"),
            _ when provider.Settings.User is not null && !_loggedIn => Wire.Answer.Line("480 Authentication required"),
            "GROUP" => WithFault(command, null, () => Select(command.Argument)),
            "DATE" => WithFault(command, null, Date),
            _ => AnswerAboutArticle(command),
        };
    }

    private Answer LogIn(Command command)
    {
        var fault = provider.Hit(FaultStage.Login, connection, command);
        if (fault is not null)
            provider.Stats.FaultHappened(fault.Kind);
        var answer = (fault?.Kind, command.Verb) switch
        {
            (FaultKind.Auth480, _) => Wire.Answer.Line(fault.Text ?? "480 Authentication required"),
            (FaultKind.Auth481, _) => Wire.Answer.Line(fault.Text ?? "481 Authentication rejected"),
            (FaultKind.Auth482, _) => Wire.Answer.Line(fault.Text ?? "482 Authentication commands issued out of sequence"),
            (FaultKind.Auth502, _) => Wire.Answer.Line(fault.Text ?? "502 Too many connections for this user", AnswerEnd.Close),
            (_, "AUTHINFO USER") => TakeUser(command.Argument),
            _ => TakePassword(command.Argument, fault),
        };
        return fault?.Kind == FaultKind.AuthSlow ? answer with { Delay = fault.Duration ?? TimeSpan.FromSeconds(5) } : answer;
    }

    private Answer TakeUser(string user)
    {
        _user = user;
        return Wire.Answer.Line("381 Password required");
    }

    private Answer TakePassword(string password, MockFault? fault)
    {
        if (_user is null)
            return Wire.Answer.Line("482 Authentication commands issued out of sequence");
        if (provider.Settings.User is { } user && (user != _user || provider.Settings.Password != password))
            return Wire.Answer.Line("481 Authentication failed");
        if (provider.Settings.CapAtLogin && !tryAdmit())
            return Wire.Answer.Line("502 Too many connections", AnswerEnd.Close);
        _loggedIn = true;
        _forgetsLogin = fault?.Kind == FaultKind.AuthThen480;
        return Wire.Answer.Line("281 Authentication accepted");
    }

    private Answer AnswerAboutArticle(Command command)
    {
        if ((command.MessageId ?? IdOf(command.Argument)) is not { } id)
            return Wire.Answer.Line("423 No article with that number");
        if (provider.Store.Find(id) is not { } article)
            return NoSuchArticle(id);
        if (!provider.Holds(article))
        {
            provider.Stats.FaultHappened(FaultKind.Coverage);
            return NoSuchArticle(id);
        }

        return WithFault(command, article, () => Send(command, article));
    }

    private Answer WithFault(Command command, ArticleReference? article, Func<Answer> good)
    {
        if (provider.Hit(FaultStage.Command, connection, command, article) is not { } fault)
            return good();
        var other = article is not null && fault.Kind == FaultKind.CommandOtherId ? provider.Store.Neighbour(article) : null;
        if (fault.Kind == FaultKind.CommandOtherId && other is null)
        {
            provider.Plan.GiveBack(fault);
            return good();
        }

        // The connection counts swaps, because only it knows whether a next response exists.
        if (fault.Kind is not (FaultKind.CommandSwapped or FaultKind.PolicyReorder))
            provider.Stats.FaultHappened(fault.Kind);
        return fault.Kind switch
        {
            FaultKind.Missing or FaultKind.Command430 or FaultKind.PolicyStatLie or FaultKind.PolicyFlap => NoSuchArticle(command.MessageId ?? command.Argument),
            FaultKind.Command423 => Wire.Answer.Line("423 No article with that number"),
            FaultKind.Command451 => Wire.Answer.Line("451 Article removed: DMCA"),
            FaultKind.Command500 => Wire.Answer.Line("500 Unknown command"),
            FaultKind.Command503 => Wire.Answer.Line("503 Program fault"),
            FaultKind.CommandOtherId => Send(command, other!),
            FaultKind.CommandSwapped or FaultKind.PolicyReorder => good() with { Swap = fault },
            FaultKind.CommandTwice => Twice(good()),
            FaultKind.CommandSlow when fault.Duration == TimeSpan.Zero => good() with { PauseAt = 0, Pause = null },
            FaultKind.CommandSlow => good() with { Delay = fault.Duration ?? TimeSpan.FromSeconds(3) },
            FaultKind.Command400 => Wire.Answer.Line("400 Service discontinued", AnswerEnd.Close),
            FaultKind.Command480 => Wire.Answer.Line("480 Authentication required"),
            FaultKind.Command502 => Wire.Answer.Line("502 Permission denied", AnswerEnd.Close),
            FaultKind.CommandGarbage => Wire.Answer.Line("\u00ff\u0001 what is this?"),
            FaultKind.CommandHalf => good() with { PauseAt = HalfOfStatusLine(good()), Pause = null },
            FaultKind.CommandDrip => good() with { TrickleFrom = 0, TricklePause = fault.Duration ?? TimeSpan.FromMilliseconds(200) },
            _ => BadStatusLine(fault.Kind, good()),
        };
    }

    private Answer Send(Command command, ArticleReference article)
    {
        var id = article.MessageId;
        if (command.Verb == "STAT")
            return Wire.Answer.Line($"223 0 <{id}>");
        if (command.Verb == "HEAD")
            return new Answer { Bytes = (byte[])[.. Encoding.UTF8.GetBytes($"221 0 <{id}>\r\n"), .. DotStuffing.Add(provider.Store.Get(article).Headers), .. ".\r\n"u8] };

        var wire = Damage(command, article, provider.Store.Get(article));
        Answer answer;
        if (command.Verb == "BODY")
        {
            answer = new Answer { Bytes = wire.BodyAnswer, BodyStart = wire.BodyStart, IsArticle = true };
        }
        else
        {
            byte[] head = [.. Encoding.UTF8.GetBytes($"220 0 <{id}>\r\n"), .. DotStuffing.Add(wire.Headers), .. "\r\n"u8];
            answer = new Answer { Bytes = (byte[])[.. head, .. wire.StuffedBody.Span], BodyStart = head.Length, IsArticle = true };
        }

        return Disturb(command, article, answer);
    }

    private WireArticle Damage(Command command, ArticleReference article, WireArticle wire)
    {
        if (provider.Hit(FaultStage.Bytes, connection, command, article) is not { } fault)
            return wire;
        if (ArticleDamage.Apply(fault.Kind, wire, provider.DamageBits(article)) is not { } damaged)
        {
            provider.Plan.GiveBack(fault);
            return wire;
        }

        provider.Stats.FaultHappened(fault.Kind);
        return damaged;
    }

    private Answer Disturb(Command command, ArticleReference article, Answer answer)
    {
        if (provider.Hit(FaultStage.Delivery, connection, command, article) is not { } fault)
            return answer;
        var disturbed = Delivery.Disturb(answer, fault);
        if (ReferenceEquals(disturbed, answer))
            provider.Plan.GiveBack(fault);
        else
            provider.Stats.FaultHappened(fault.Kind);
        return disturbed;
    }

    private Answer Select(string group)
    {
        _hasGroup = true;
        return Wire.Answer.Line($"211 {GroupArticles} 1 {GroupArticles} {group}");
    }

    /// <summary>Returns the article of a number; null if there is none. Every group contains the parts of the same file.</summary>
    private string? IdOf(string number)
    {
        if (!_hasGroup || !int.TryParse(number, NumberStyles.None, CultureInfo.InvariantCulture, out var part) || part is < 1 or > GroupArticles)
            return null;
        return new MockMessageId
        {
            Seed = 0,
            File = 0,
            Files = 1,
            Part = part,
            Parts = GroupArticles + 1,
            Begin = (part - 1L) * MockFile.DefaultArticleSize,
            Length = MockFile.DefaultArticleSize,
            FileSize = (GroupArticles + 1L) * MockFile.DefaultArticleSize,
            Name = "post.bin",
        }.ToString();
    }

    private Answer Date() =>
        Wire.Answer.Line($"111 {provider.Clock.Provider.GetUtcNow().ToString("yyyyMMddHHmmss", CultureInfo.InvariantCulture)}");

    private static Answer NoSuchArticle(string id) => Wire.Answer.Line($"430 No such article <{id}>");

    private static int HalfOfStatusLine(Answer answer) => answer.Bytes.Span.IndexOf((byte)'\r') / 2;

    private static Answer Twice(Answer answer) => answer with { Bytes = (byte[])[.. answer.Bytes.Span, .. answer.Bytes.Span] };

    private static Answer BadStatusLine(FaultKind kind, Answer answer)
    {
        var line = answer.Bytes.Span[..answer.Bytes.Span.IndexOf((byte)'\r')];
        return kind switch
        {
            FaultKind.CommandBare => answer.WithStatusLine([.. line[..3], .. "\r\n"u8]),
            FaultKind.CommandLineFeed => answer.WithStatusLine([.. line, .. "\n"u8]),
            FaultKind.CommandLong => answer.WithStatusLine([.. line, .. " "u8, .. Enumerable.Repeat((byte)'x', 10 << 20), .. "\r\n"u8]),
            _ => throw new InvalidOperationException($"{kind} is no fault of a command."),
        };
    }
}
