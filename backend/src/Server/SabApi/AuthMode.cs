using Sluice.Server.Auth;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=auth</c>: reports the accepted kinds of credentials and whether the key is valid.</summary>
internal sealed class AuthMode(ApiKeyVerifier keys, SabAccess access) : ISabMode
{
    public string Name => "auth";

    public bool IsOpen => true;

    public Task AnswerAsync(SabCall call)
    {
        var verdict = keys.Verify(call.Parameters.Text("key", "apikey"), Caller.Of(call.Http));
        if (verdict is ApiKeyVerdict.Throttled or ApiKeyVerdict.Locked)
            return access.RefuseAsync(call.Http, verdict);
        return SabAnswer.WriteAsync(call, to => to.Field("auth", verdict switch
        {
            ApiKeyVerdict.Incorrect => "badkey",
            ApiKeyVerdict.AcceptedForAdds => "nzbkey",
            _ => "apikey",
        }));
    }
}
