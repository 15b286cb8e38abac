namespace Sluice.Server.WebDav;

internal static class Verbs
{
    public const string Options = "OPTIONS";
    public const string Get = "GET";
    public const string Head = "HEAD";
    public const string PropFind = "PROPFIND";
    public const string Put = "PUT";
    public const string Delete = "DELETE";
    public const string MkCol = "MKCOL";
    public const string Copy = "COPY";
    public const string Move = "MOVE";
    public const string PropPatch = "PROPPATCH";
    public const string Lock = "LOCK";
    public const string Unlock = "UNLOCK";
}
